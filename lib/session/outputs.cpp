#include "outputs.hpp"

#include <cstdio>
#include <exception>
#include <string>

#include "../support/error.hpp"
#include "../support/output_file.hpp"

namespace adaptyst::lib {

void put_out(const profile& what, report_choice report, output_names& to) {
  const bool prints = report == report_choice::table;
  if (prints) {
    const std::string table = to_table(what);
    std::fwrite(table.data(), 1, table.size(), stderr);
  }
  std::exception_ptr first;
  for (const output_form form : {output_form::json, output_form::table}) {
    const std::string file = to.of(form);
    if (file.empty()) continue;
    try {
      write_file(file, form == output_form::json ? to_json(what) : to_table(what));
      to.note_written(form);
    } catch (const error& failed) {  // the others can be had all the same
      if (first) complain(failed.what());
      else first = std::current_exception();
    }
  }
  const auto told = prints ? output_names::how_much::all : output_names::how_much::what_is_renamed;
  if (const std::string line = to.told(told); !line.empty()) complain(line);
  if (first) std::rethrow_exception(first);
}

}  // namespace adaptyst::lib
