// `adaptyst diff`: compares profiles or groups of profiles, and fails above a limit.
#include <fmt/format.h>

#include <adaptyst/compare.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "commands.hpp"
#include "output.hpp"
#include "repeated_runs.hpp"
#include "report/forms.hpp"
#include "report/parts.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

struct diff_options {
  std::vector<std::string> before, after;
  std::string fail_above;
  std::string min_share = "0%";
  std::vector<std::string> outputs;
  std::string format = "table";
  std::string by = "wall";
  bool is_verbose = false;
};

std::vector<profile> read_all(const std::vector<std::string>& files, repeated_runs& repeated) {
  std::vector<profile> all;
  all.reserve(files.size());
  for (const std::string& file : files) {
    all.push_back(read_profile(file));
    repeated.check(all.back(), file);
  }
  return all;
}

// `diff OLD NEW`, as well as `diff OLD... -- NEW...`.
void split(diff_options& options) {
  if (!options.after.empty()) {
    if ((options.before.size() == 1) != (options.after.size() == 1))
      throw lib::error("cannot compare one run with several: how it would differ when run again is not known", 0,
                       "name at least two runs on each side, or one on each");
    return;
  }
  if (options.before.size() != 2)
    throw lib::error("cannot determine which runs are old and which new", 0,
                     "adaptyst diff OLD.json NEW.json, or adaptyst diff OLD*.json -- NEW*.json");
  options.after.push_back(options.before.back());
  options.before.pop_back();
}

// Without times, the table would have only dashes.
void require_times(const comparison& found, const diff_options& options) {
  if (found.by == compared_time::wall || found.regions.empty()) return;
  const auto has = [&](std::optional<compared_side> compared_region::*side) {
    return std::any_of(found.regions.begin(), found.regions.end(),
                       [&](const compared_region& row) { return row.*side && (row.*side)->total_ns; });
  };
  for (const auto& [side, files] :
       {std::pair(&compared_region::before, &options.before), std::pair(&compared_region::after, &options.after)})
    if (!has(side))
      throw lib::error(fmt::format("cannot compare times on a core: {} has none", files->front()), files->front(), 0,
                       "observe with the kernel's context: --context cpu, where eBPF is permitted");
}

void diff(diff_options& options) {
  split(options);
  repeated_runs repeated;
  const std::vector<profile> before = read_all(options.before, repeated), after = read_all(options.after, repeated);
  const compared_time by = options.by == "running" ? compared_time::running : compared_time::wall;
  const comparison found = compare_runs(before, after, parse_fraction(options.min_share), by);
  require_times(found, options);
  give({[&] { return to_json(found); },
        [&](const lib::screen& on) { return lib::to_table(found, on, options.is_verbose); },
        [&] { return lib::to_rows(found); }, [&] { return to_html(found); }},
       options.outputs, options.format, "the comparison");
  if (options.fail_above.empty()) return;
  const std::string slower = list_slower(found, parse_fraction(options.fail_above));
  if (slower.empty()) return;
  complain(fmt::format("slower by more than {}:\n{}", options.fail_above, slower));
  end_with(comparison_failed);
}

void add_limits(CLI::App& command, diff_options& options) {
  command
      .add_option("--fail-above", options.fail_above,
                  "End with status 1 if a region is slower by more than this, in percent")
      ->type_name("PERCENT")
      ->transform(percentage(0));
  command
      .add_option("--min-share", options.min_share,
                  "Omit regions with a total below this share of the run, in percent, on both sides")
      ->type_name("PERCENT")
      ->transform(percentage(0, 100))
      ->capture_default_str();
  command
      .add_option("--by", options.by,
                  "Time to compare. wall: from begin to end of a region; running: on a core, without waiting")
      ->check(one_of({"wall", "running"}))
      ->capture_default_str();
}

}  // namespace

void add_diff(CLI::App& app) {
  const auto options = std::make_shared<diff_options>();
  CLI::App* const command = app.add_subcommand("diff", "Compare runs before and after a change, region by region");
  command->group(heading::results);
  command
      ->add_option("BEFORE", options->before,
                   "Profiles of runs before the change; with exactly two files, the second is AFTER")
      ->required()
      ->type_name("");
  command->add_option(after_mark, options->after, "Profiles of runs after the change; the same as a plain `--`")
      ->type_name("FILE...");
  add_limits(*command, *options);
  add_output(*command, options->outputs, {output_form::json, output_form::html, output_form::table, output_form::csv});
  add_format(*command, options->format, "the comparison on standard output");
  add_verbose(*command, options->is_verbose, "the calls of each region, the probability of chance, and the legend");
  command->footer(
      "$ adaptyst diff old.json new.json\n"
      "$ adaptyst diff old-*.json -- new-*.json --fail-above 5%\n"
      "\n"
      "`adaptyst diff old.json new.json` compares two runs. `adaptyst diff old-*.json -- new-*.json` compares several "
      "runs of each side; alternate the runs of the two sides (docs/comparing.md).\n"
      "\n"
      "Regions are the same if the names of their path, their kind and their device are the same. Files and lines can "
      "differ. The table is sorted by the change of a run's total. `CHANGE` is the change of an event's mean duration; `N` "
      "is the number of runs of either side that have the region.\n"
      "\n"
      "Several runs: a region is slower or faster if its runs differ between the sides by more than within a side: "
      "Welch's t-test on logarithms, corrected for the number of regions, p < 0.02. Five runs of each side show a "
      "change of 10 % if runs differ by 2 or 3 %. The interval contains the change with 95 % certainty.\n"
      "\n"
      "One run of each side: the mean must grow by more than 10 % or shrink by more than 9.1 % (to 1/1.1), and the "
      "durations of events must differ by more than chance (Mann-Whitney U test, Holm's correction).\n"
      "\n"
      "If threads had no core for a large part of the time, or not equally long on both sides, a line reports it. "
      "`--by running` then compares the time on a core; all profiles must have the kernel's context.\n"
      "\n"
      "Differences of engine, options or metadata between the sides are listed below the table.\n"
      "\n"
      "`--fail-above 5%` fails if a region has the verdict slower and a change above 5 %. Regions that are new, that have "
      "vanished, or that only run more often, do not fail.\n"
      "\n"
      "docs/comparison-schema.json describes the JSON.\n"
      "\n"
      "Exit status: 0 success; 1 a region is slower by more than `--fail-above` permits; 2 wrong usage, or a file that "
      "could not be read or written.");
  command->callback([options] { diff(*options); });
}

}  // namespace adaptyst::tools
