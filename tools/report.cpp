// `adaptyst report`: prints profiles, and adds up several.
#include <unistd.h>

#include <adaptyst/profile.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "repeated_runs.hpp"
#include "report_view.hpp"
#include "support/terminal_width.hpp"

namespace adaptyst::tools {

namespace {

struct report_options {
  std::vector<std::string> files;
  std::vector<std::string> outputs;
  report_view view;
  bool strict = false;
};

void report(const report_options& options) {
  profile all;
  repeated_runs repeated;
  std::size_t read = 0;
  for (const std::string& file : options.files) {
    try {
      const profile one = is_kept(file) ? read_kept(file) : read_profile(file);
      repeated.check(one, file);
      // A merge brings rows into canonical order; a single profile keeps that of its file.
      if (read++ == 0) all = one;
      else merge(all, one);
    } catch (const error& wrong) {
      complain(wrong.what());
    }
  }
  const bool whole = read == options.files.size();
  if (read == 0 || (options.strict && !whole)) end_with(bad_input);
  table_options how = options.view.asked();
  write_outputs(options.outputs, "the profile",
                [&](output_form form) { return form == output_form::json ? to_json(all) : to_table(all, how); });
  how.columns = lib::terminal_width(STDOUT_FILENO);
  switch (options.view.form()) {
    case report_choice::json: print_json(to_json(all)); break;
    case report_choice::csv: print(to_csv(all, how)); break;
    case report_choice::markdown: print(to_markdown(all, how)); break;
    default: print(to_table(all, how));
  }
  if (!whole) end_with(bad_input);
}

}  // namespace

void add_report(CLI::App& app) {
  const auto asked = std::make_shared<report_options>();
  CLI::App* const command = app.add_subcommand("report", "Print profiles; several are added up, as those of MPI ranks");
  command->add_option("FILE", asked->files, "A profile that output=FILE.json made, or a file that keep=DIRECTORY left")
      ->required()
      ->type_name("");
  add_output(*command, asked->outputs, "Write the profile, merged where there are several, to this file");
  add_view(*command, asked->view);
  command->add_flag("--strict", asked->strict, "Report nothing where one of the files is bad");
  command->footer(
      "$ adaptyst report profile.json\n"
      "$ adaptyst report profile-*.json --output all.json\n"
      "$ adaptyst report profile.json --sort self --top 20\n"
      "\n"
      "A program that runs with ADAPTYST=keep=DIRECTORY and is killed leaves a file there, which is read here.\n"
      "A file that cannot be read, or is no profile, is named on standard error. The others are reported\n"
      "all the same, unless `--strict` is given.\n"
      "\n"
      "Exit status: 0 all is well; 2 wrong usage, a file that could not be read, or one that could not be written.");
  command->callback([asked] { report(*asked); });
}

}  // namespace adaptyst::tools
