// Gives each output file its name. Names that several processes would share get the rank or the process id.
#include "output_names.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "../support/error.hpp"
#include "../support/launch_rank.hpp"
#include "../support/output_file.hpp"
#include "../support/output_form.hpp"

namespace adaptyst::lib {

output_names::output_names(const std::vector<output>& outputs, of_whom owner) {
  all_.reserve(outputs.size());
  for (const output& output : outputs) {
    entry made{output.form, expand(output.file), expand(output.file), names::as_given, false, nullptr};
    if (is_replaced(made.file)) {
      if (owner == of_whom::this_process && has_other_ranks() && !distinguishes_processes(output.file)) {
        made.file = with_number(made.file, launch_rank());
        made.requested = made.file;
        made.naming = names::by_rank;
      }
      made.claim = std::make_unique<name_claim>(made.file);
      if (made.claim->is_taken() || (is_spawned() && output.file.find("%p") == std::string::npos)) {
        made.file = with_number(made.file, std::to_string(getpid()));
        made.naming = names::by_process;
        made.claim = std::make_unique<name_claim>(made.file);
      }
      expect_output(made.file);
    }
    all_.push_back(std::move(made));
  }
}

std::string output_names::of(output_form form) const {
  for (const entry& each : all_)
    if (each.form == form) return each.file;
  return {};
}

void output_names::require_writable() const {
  for (const entry& each : all_)
    if (const int number = why_not_writable(each.file); number != 0)
      throw error(fmt::format("cannot write to {}", each.file), each.file, number, "choose another place");
}

void output_names::note_written(output_form form) {
  for (entry& each : all_)
    if (each.form == form) each.is_written = true;
}

std::string output_names::describe(how_much what) const {
  std::string files, why;
  for (const entry& each : all_) {
    const bool is_news = each.naming == names::by_process || (each.naming == names::by_rank && prints_for_all_ranks());
    if (!each.is_written || (what == how_much::what_is_renamed && !is_news)) continue;
    files += (files.empty() ? "" : ", ") + find_written(each.file);
    if (each.naming == names::by_process) why = fmt::format("; another process writes {}", each.requested);
    else if (each.naming == names::by_rank && why.empty()) why = "; each rank has its own";
  }
  return files.empty() ? files : fmt::format("written: {}{}", files, why);
}

}  // namespace adaptyst::lib
