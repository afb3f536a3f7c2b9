#include <fmt/format.h>

#include <adaptyst/compare.hpp>
#include <charconv>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "output.hpp"

namespace adaptyst::tools {

namespace {

struct diff_options {
  std::string before, after;
  std::string fail_above;
  std::string least_share = "0%";
  std::vector<std::string> outputs;
  std::string format = "table";
};

// 0.05 of "5%". The sign is asked for, since a plain 0.05 could mean either.
std::optional<double> fraction_of(const std::string& text) {
  double percent = 0;
  const char* const end = text.data() + text.size();
  const auto [read, failure] = std::from_chars(text.data(), end, percent);
  if (failure != std::errc{} || std::string(read, end) != "%" || !std::isfinite(percent) || percent < 0)
    return std::nullopt;
  return percent / 100;
}

std::string check_percent(const std::string& text) {
  return fraction_of(text) ? std::string() : fmt::format("'{}' is no percentage such as 5%", text);
}

void diff(const diff_options& asked) {
  const comparison found =
      compare(read_profile(asked.before), read_profile(asked.after), *fraction_of(asked.least_share));
  write_outputs(asked.outputs, "the comparison",
                [&](output_form form) { return form == output_form::json ? to_json(found) : to_table(found); });
  if (asked.format == "json") print_json(to_json(found));
  else print(to_table(found));
  if (asked.fail_above.empty()) return;
  const std::string slower = list_slower(found, *fraction_of(asked.fail_above));
  if (slower.empty()) return;
  complain(fmt::format("slower by more than {}:\n{}", asked.fail_above, slower));
  end_with(comparison_failed);
}

}  // namespace

void add_diff(CLI::App& to) {
  const auto asked = std::make_shared<diff_options>();
  CLI::App* const command = to.add_subcommand("diff", "Compare two profiles, region by region");
  command->add_option("BEFORE", asked->before, "The profile to compare with")->required()->type_name("");
  command->add_option("AFTER", asked->after, "The profile that may have changed")->required()->type_name("");
  command->add_option("--fail-above", asked->fail_above, "End with status 1 if a region got slower by more than this")
      ->type_name("PERCENT%")
      ->check(check_percent);
  command
      ->add_option("--min-share", asked->least_share,
                   "Ignore regions whose total is below this share of the run, in both profiles")
      ->type_name("PERCENT%")
      ->check(check_percent)
      ->capture_default_str();
  add_output(*command, asked->outputs, "Write the comparison to this file");
  add_format(*command, asked->format);
  command->footer(
      "Regions are the same if the names of their path, their kind and their device are; files and\n"
      "lines may have moved. They are sorted by how much their total changed. p tells how often chance\n"
      "alone makes the durations of single events differ as much (Mann-Whitney U test on the\n"
      "histograms, for regions with at least 8 events in both profiles, corrected for the number of\n"
      "regions by Holm's method); below 0.01 a star stands behind it.\n"
      "\n"
      "`--fail-above 5%` fails if, for any region, the mean duration of an event grew by more than 5 %,\n"
      "and p is below 0.01, and events of AFTER tend to be the longer ones. Regions that are new, that\n"
      "have vanished, or that merely run more often, do not fail.\n"
      "\n"
      "p knows the events within the two runs, not how runs differ as wholes: a busy machine makes the\n"
      "same program slower, significantly. Choose a limit above what two runs of the same program\n"
      "differ by, and merge several runs into each side with `adaptyst report --output`.\n"
      "\n"
      "docs/comparison-schema.json says what `--format json` prints.\n"
      "\n"
      "Exit status: 0 all is well; 1 a region got slower by more than `--fail-above` allows; 2 wrong usage, or a file "
      "that\n"
      "could not be read or written.");
  command->callback([asked] { diff(*asked); });
}

}  // namespace adaptyst::tools
