#include <adaptyst/profile.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"

namespace adaptyst::tools {

namespace {

struct report_options {
  std::vector<std::string> files;
  std::vector<std::string> outputs;
  std::string format = "table";
  bool strict = false;
};

void report(const report_options& asked) {
  profile all;
  std::size_t read = 0;
  for (const std::string& file : asked.files) {
    try {
      const profile one = is_kept(file) ? read_kept(file) : read_profile(file);
      // A merge brings rows into canonical order; a single profile keeps that of its file.
      if (read++ == 0) all = one;
      else merge(all, one);
    } catch (const error& wrong) {
      complain(wrong.what());
    }
  }
  const bool whole = read == asked.files.size();
  if (read == 0 || (asked.strict && !whole)) end_with(bad_input);
  write_outputs(asked.outputs, "the profile",
                [&](output_form form) { return form == output_form::json ? to_json(all) : to_table(all); });
  if (asked.format == "json") print_json(to_json(all));
  else print(to_table(all));
  if (!whole) end_with(bad_input);
}

}  // namespace

void add_report(CLI::App& to) {
  const auto asked = std::make_shared<report_options>();
  CLI::App* const command = to.add_subcommand("report", "Print profiles; several are added up, as those of MPI ranks");
  command->add_option("FILE", asked->files, "A profile that output=FILE.json made, or a file that keep=DIRECTORY left")
      ->required()
      ->type_name("");
  add_output(*command, asked->outputs, "Write the profile, merged where there are several, to this file");
  add_format(*command, asked->format);
  command->add_flag("--strict", asked->strict, "Report nothing where one of the files is bad");
  command->footer(
      "A program that runs with ADAPTYST=keep=DIRECTORY and is killed leaves a file there, which is read here.\n"
      "A file that cannot be read, or is no profile, is named on standard error. The others are reported\n"
      "all the same, unless `--strict` is given.\n"
      "\n"
      "Exit status: 0 all is well; 2 wrong usage, a file that could not be read, or one that could not be written.");
  command->callback([asked] { report(*asked); });
}

}  // namespace adaptyst::tools
