#include "parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

std::string describe_verdicts(const comparison& comparison) {
  if (comparison.method == comparison_method::single_runs)
    return fmt::format(
        "one run a side cannot show how runs differ: slower and faster are changes of the mean beyond {:+.0f} or "
        "{:+.1f} % (the interval's reach) of which events differ by more than chance (p < {}: Mann-Whitney U test, "
        "Holm's correction for the number of regions); several runs a side show more (docs/comparing.md)",
        100 * single_run_floor, 100 * (1 / (1 + single_run_floor) - 1), significance_level);
  return fmt::format(
      "{} and {} runs: slower and faster: the mean changed by more than runs of one side differ from each other (p < "
      "{}: Welch's t on logarithms, {}); interval: 95 %",
      comparison.runs_before, comparison.runs_after, significance_level,
      comparison.method == comparison_method::permutations ? "the greatest of all regions, by permutations of runs"
                                                           : "Holm's correction for the number of regions");
}

}  // namespace

std::string describe_method(const comparison& comparison) {
  std::string sentence =
      fmt::format("{} region{} compared", comparison.regions.size(), comparison.regions.size() == 1 ? "" : "s");
  if (comparison.ignored != 0) sentence += fmt::format(", {} below the least share ignored", comparison.ignored);
  if (comparison.by == compared_time::running) sentence += " by their time on a core";
  if (comparison.by == compared_time::running && comparison.method == comparison_method::single_runs)
    return sentence +
           "; of single events that is not known, so two runs have no verdict: several runs a side have "
           "(docs/comparing.md)";
  return sentence + "; " + describe_verdicts(comparison);
}

std::string describe_core_waits(const comparison& comparison) {
  constexpr double large = 0.1, different = 0.05;
  const std::optional<double>&before = comparison.no_core_before, &after = comparison.no_core_after;
  const bool is_large = before.value_or(0) >= large || after.value_or(0) >= large;
  const bool differs = before && after && std::abs(*before - *after) >= different;
  if (!is_large && !differs) return {};
  const auto text = [](const std::optional<double>& share) { return share ? percent(*share) : "—"; };
  return fmt::format("threads had no core {} of the time that they could run, now {}: {}", text(before), text(after),
                     comparison.by == compared_time::running
                         ? "times on a core are without that, though caches may have suffered"
                         : "wall times include that. Compare times on a core (--by running), or run on idle cores");
}

std::string describe_equal(const comparison& comparison) {
  const std::size_t count = comparison.regions.size() + comparison.ignored;
  return fmt::format("the profiles are equal: {} region{} with the same calls and times", count, count == 1 ? "" : "s");
}

std::string describe_differing(const std::vector<differing_setting>& all) {
  std::string made;
  for (const differing_setting& setting : all)
    made += fmt::format("{} {}{} {}, now {}", made.empty() ? "the sides were run differently:" : ";", setting.name,
                        setting.kind == setting_kind::option ? "=" : "", setting.before.empty() ? "—" : setting.before,
                        setting.after.empty() ? "—" : setting.after);
  return printable(made);
}

}  // namespace adaptyst::lib
