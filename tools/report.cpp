// `adaptyst report`: prints profiles, and adds up several.
#include <unistd.h>

#include <adaptyst/profile.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "commands.hpp"
#include "known_ceilings.hpp"
#include "merge/rank_merge.hpp"
#include "output.hpp"
#include "repeated_runs.hpp"
#include "report/forms.hpp"
#include "report_view.hpp"
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

// A merge brings rows into canonical order; a single profile keeps that of its file.
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
      if (!std::filesystem::is_regular_file(files_[number], ignored)) return std::nullopt;  // a pipe is read but once
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
  write_outputs(options.outputs, "the profile", [&](output_form form) { return lib::render(form, all, how); });
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
  const auto options = std::make_shared<report_options>();
  CLI::App* const command = app.add_subcommand("report", "Print profiles; several are added up, as those of MPI ranks");
  command
      ->add_option("FILE", options->files, "A profile that output=FILE.json made, or a file that keep=DIRECTORY left")
      ->required()
      ->type_name("");
  add_output(*command, options->outputs, "Write the profile, merged where there are several, to this file");
  add_view(*command, options->view);
  add_ceilings(*command, options->ceilings);
  command->add_flag("--strict", options->strict, "Report nothing where one of the files is bad");
  command->footer(
      "$ adaptyst report profile.json\n"
      "$ adaptyst report profile-*.json --output all.json\n"
      "$ adaptyst report profile.json --sort self --top 20\n"
      "\n"
      "A program that runs with ADAPTYST=keep=DIRECTORY and is killed leaves a file there, which is read here.\n"
      "A file that cannot be read, or is no profile, is named on standard error. The others are reported\n"
      "all the same, unless `--strict` is given.\n"
      "\n"
      "Regions of the host with bytes and flops are held against the ceilings of their machine, where these are known\n"
      "(docs/ceilings.md).\n"
      "\n"
      "Exit status: 0 all is well; 2 wrong usage, a file that could not be read, or one that could not be written.");
  command->callback([options] { report(*options); });
}

}  // namespace adaptyst::tools
