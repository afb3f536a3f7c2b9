#include "outputs.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "../report/forms.hpp"
#include "../support/error.hpp"
#include "../support/output_file.hpp"
#include "../support/output_form.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

std::string format_report(const profile& what, const options& options) {
  table_options how = options.rows;
  switch (options.report) {
    case report_choice::json: return isatty(STDERR_FILENO) != 0 ? printable_json(to_json(what)) : to_json(what);
    case report_choice::csv: return to_csv(what, how);
    case report_choice::markdown: return to_markdown(what, how);
    case report_choice::table: fit_to_terminal(how, STDERR_FILENO); return to_table(what, how);
    case report_choice::none: break;
  }
  return {};
}

}  // namespace

void put_out(const profile& what, const options& options, output_names& names, metrics_regions* listed) {
  const std::string report = format_report(what, options);
  std::fwrite(report.data(), 1, report.size(), stderr);
  std::exception_ptr first;
  for (const form_entry& entry : output_forms()) {
    const std::string file = names.of(entry.form);
    if (file.empty() || entry.source != output_source::profile) continue;
    try {
      write_profile_as(entry.form, file, what, options.rows, listed);
      names.note_written(entry.form);
    } catch (const error& failed) {  // the other outputs are still written
      if (first) complain(failed.what());
      else first = std::current_exception();
    }
  }
  // A report in another form than a table is read by programs: only necessary messages follow it.
  const auto reported =
      options.report == report_choice::table ? output_names::how_much::all : output_names::how_much::what_is_renamed;
  if (const std::string line = names.describe(reported); !line.empty()) complain(line);
  if (first) std::rethrow_exception(first);
}

}  // namespace adaptyst::lib
