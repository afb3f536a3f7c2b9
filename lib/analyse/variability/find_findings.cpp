// Finds flagged windows, slow groups, stalls, and the correlation of stalls with slow windows.
#include "flags.hpp"
#include "variability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

namespace adaptyst::lib {

namespace {

// Stalls are reported from this share of the time on.
constexpr double least_stall = 0.01;
constexpr double least_correlation = 0.5;
constexpr std::uint64_t min_pairs = 10;

struct logs {
  double count = 0, sum = 0, squares = 0;  // of log2

  void add(const name_sums& sums) {
    count += static_cast<double>(sums.count);
    sum += static_cast<double>(sums.log_sum) * log_unit;
    squares += static_cast<double>(sums.log_squares) * log_unit * log_unit;
  }
  double mean() const { return sum / count; }
  double error_squared() const { return std::max(0.0, squares / count - mean() * mean()) / count; }
};

void find_slow_groups(const variability_result& result, std::vector<variability_finding>& to) {
  for (const group_difference& difference : result.differences) {
    if (!difference.is_slow()) continue;
    to.push_back({variability_finding_kind::slow_group, difference.group, difference.ratio,
                  fmt::format("{} is slow: the same {} take {:.2f} times as long as on the others",
                              group_name(result, difference.group), result.settings.has_regions ? "regions" : "kernels",
                              difference.ratio)});
  }
}

void find_slow_windows(const variability_result& result, std::vector<variability_finding>& to) {
  const auto flagged = static_cast<std::size_t>(std::count_if(result.windows.begin(), result.windows.end(),
                                                              [](const auto& window) { return window.is_flagged; }));
  if (flagged == 0) return;
  const auto compared = std::count_if(result.windows.begin(), result.windows.end(),
                                      [](const auto& window) { return window.value.has_value(); });
  static constexpr const char* what[] = {"are slow: their work took", "have long stalls", "have an idle device",
                                         "have long gaps before operations"};
  std::string how;
  if (result.settings.metric == variability_metric::duration) {
    double least = 0, most = 0;
    for (const variability_window& window : result.windows) {
      if (!window.is_flagged) continue;
      least = least == 0 ? *window.value : std::min(least, *window.value);
      most = std::max(most, *window.value);
    }
    const bool is_equal = fmt::format("{:.2f}", least) == fmt::format("{:.2f}", most);
    how = is_equal ? fmt::format(" {:.2f} times as long as usual", most)
                   : fmt::format(" {:.2f} to {:.2f} times as long as usual", least, most);
  }
  to.push_back({variability_finding_kind::slow_windows, std::nullopt, static_cast<double>(flagged),
                fmt::format("{} of {} windows {}{} (beyond {} times the interquartile range)", flagged, compared,
                            what[static_cast<int>(result.settings.metric)], how, result.settings.iqr)});
}

void find_stalls(const variability_result& result, std::vector<variability_finding>& to) {
  std::map<std::uint32_t, double> stalls;
  for (const variability_window& window : result.windows) stalls[window.group] += static_cast<double>(window.stall_ns);
  const auto span = static_cast<double>(result.last_ns - result.first_ns);
  for (const auto& [group, stall] : stalls) {
    if (span <= 0 || stall / span < least_stall) continue;
    to.push_back({variability_finding_kind::stalls, group, stall / span,
                  fmt::format("{} copied without computing for {:.1f} % of the time", group_name(result, group),
                              100 * stall / span)});
  }
  // For independent windows, Spearman's correlation stays below 3/√n.
  const double least = std::max(least_correlation, 3 / std::sqrt(static_cast<double>(result.pairs)));
  if (result.pairs < min_pairs || !result.spearman || *result.spearman < least) return;
  to.push_back({variability_finding_kind::stalls_go_with_slowness, std::nullopt, *result.spearman,
                fmt::format("windows with long stalls also have long kernels (Spearman correlation {:.2f}, {} windows)",
                            *result.spearman, result.pairs)});
}

}  // namespace

// A group is slow if the same names take longer on it than on the others by a minimum ratio, and by several standard
// errors, which excludes chance.
bool group_difference::is_slow() const noexcept { return ratio >= least_ratio && (!z || *z >= least_errors); }

group_difference make_difference(std::uint32_t group, double slower, double error) {
  group_difference made{group, std::exp(slower), {}};
  if (error > 0) made.z = slower / error;
  return made;
}

// The ratio of a name's duration in one group to that in all other groups: the mean over names, weighted by the count
// in this group.
std::vector<group_difference> find_differences(const sums_by_name& sums) {
  std::set<std::uint32_t> groups;
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, const name_sums*>>> by_name;
  for (const auto& [key, sums_of_name] : sums) {
    groups.insert(key.first);
    by_name[key.second].emplace_back(key.first, sums_of_name);
  }
  std::vector<group_difference> made;
  if (groups.size() < 2) return made;
  for (const std::uint32_t group : groups) {
    double weights = 0, slower = 0, error_squared = 0;
    for (const auto& [name, all] : by_name) {
      logs own, others;
      for (const auto& [group_of_sums, sums_of_group] : all)
        if (sums_of_group->count >= min_compared_count) (group_of_sums == group ? own : others).add(*sums_of_group);
      if (own.count == 0 || others.count == 0) continue;
      const double weight = own.count;
      weights += weight;
      slower += weight * (own.mean() - others.mean());
      error_squared += weight * weight * (own.error_squared() + others.error_squared());
    }
    if (weights == 0) continue;
    constexpr double natural = 0.69314718055994530942;  // ln 2
    made.push_back(make_difference(group, natural * slower / weights, natural * std::sqrt(error_squared) / weights));
  }
  return made;
}

std::vector<variability_finding> find_findings(const variability_result& result) {
  std::vector<variability_finding> made;
  find_slow_groups(result, made);
  find_slow_windows(result, made);
  if (result.settings.has_stalls()) find_stalls(result, made);
  return made;
}

}  // namespace adaptyst::lib
