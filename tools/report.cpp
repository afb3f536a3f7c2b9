// `adaptyst report`: prints profiles, and merges several.
#include <unistd.h>

#include <adaptyst/profile.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "commands.hpp"
#include "merge/rank_merge.hpp"
#include "output.hpp"
#include "repeated_runs.hpp"
#include "report/forms.hpp"
#include "report_view.hpp"
#include "stored_ceilings.hpp"
#include "support/output_form.hpp"
#include "support/text.hpp"

namespace adaptyst::tools {

namespace {

struct report_options {
  std::vector<std::string> files;
  std::vector<std::string> outputs;
  report_view view;
  ceilings_choice ceilings;
  bool strict = false;
};

profile read_file(const std::string& file) { return is_kept(file) ? read_kept(file) : read_profile(file); }

// A merge puts rows into canonical order; a single profile keeps the order of its file.
class file_sum {
 public:
  void add(const std::string& file, profile&& profile) {
    if (files_.empty()) {
      only_ = std::move(profile);
    } else {
      if (only_) sum_.add(*std::exchange(only_, std::nullopt));
      sum_.add(profile);
    }
    files_.push_back(file);
  }
  std::size_t count() const { return files_.size(); }
  profile take() {
    if (only_) return std::move(*only_);
    return sum_.result([this](std::size_t number) -> std::optional<profile> {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(files_[number], ignored)) return std::nullopt;  // a pipe is readable once
      try {
        return read_file(files_[number]);
      } catch (const error& wrong) {
        complain(wrong.what());
        return std::nullopt;
      }
    });
  }

 private:
  std::vector<std::string> files_;
  std::optional<profile> only_;
  lib::profile_sum sum_;
};

void report(const report_options& options) {
  file_sum sum;
  repeated_runs repeated;
  for (const std::string& file : options.files) {
    try {
      profile profile = read_file(file);
      repeated.check(profile, file);
      sum.add(file, std::move(profile));
    } catch (const error& wrong) {
      complain(wrong.what());
    }
  }
  const bool whole = sum.count() == options.files.size();
  if (sum.count() == 0 || (options.strict && !whole)) end_with(bad_input);
  profile all = sum.take();
  add_known_rooflines(all, options.ceilings);
  table_options how = options.view.chosen_options();
  write_outputs(options.outputs, "the profile",
                [&](output_form form, const std::string& file) { lib::write_profile_as(form, file, all, how); });
  lib::fit_to_terminal(how, STDOUT_FILENO);
  switch (options.view.form()) {
    case report_choice::json: print_json(to_json(all)); break;
    case report_choice::csv: print(to_csv(all, how)); break;
    case report_choice::markdown: print(to_markdown(all, how)); break;
    case report_choice::table: print(to_table(all, how)); break;
    case report_choice::none: break;
  }
  if (!whole) end_with(bad_input);
}

}  // namespace

void add_report(CLI::App& app) {
  const auto options = std::make_shared<report_options>();
  CLI::App* const command = app.add_subcommand("report", "Print the sum of profiles, such as those of MPI ranks");
  command->group(heading::results);
  command
      ->add_option(
          "FILE", options->files,
          "Profile that -o FILE.json or output=FILE.json wrote, or a file of a killed program in keep=DIRECTORY")
      ->required()
      ->type_name("");
  add_output(*command, options->outputs, lib::forms_from(lib::output_source::profile));
  add_view(*command, options->view, "on standard output", true);
  add_ceilings(*command, options->ceilings);
  command->add_flag("--strict", options->strict, "Print nothing if a file cannot be read");
  command->footer(
      "$ adaptyst report profile.json\n"
      "$ adaptyst report profile-*.json -o all.json\n"
      "$ adaptyst report profile.json --sort self --top 20\n"
      "\n"
      "If a file cannot be read, a message names the file. The other files are reported, unless `--strict` is "
      "given.\n"
      "\n"
      "If the ceilings of the machine are known, the report compares regions that have bytes and flops with them "
      "(docs/ceilings.md).\n"
      "\n"
      "Exit status: 0 success; 2 wrong usage, or a file that could not be read or written.");
  command->callback([options] { report(*options); });
}

}  // namespace adaptyst::tools
