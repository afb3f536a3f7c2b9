// Sorts the regions of runs by level. Regions of the level at which a run stopped give that level's figures. Regions of
// the level above give the overhead of the deeper level.
//
// In a run with a deeper level, a call path contains additional regions. Paths are therefore compared without regions
// that are deeper than the last region of the path.
#include "levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "../../model/words.hpp"
#include "../../support/text.hpp"
#include "../roofline.hpp"

namespace adaptyst::lib {

namespace {

std::uint32_t site_kind(region_kind kind) {
  switch (kind) {
    case region_kind::kernel:
    case region_kind::copy_to:
    case region_kind::copy_from:
    case region_kind::fill:
    case region_kind::other: return ADAPTYST_SITE_KERNEL;
    case region_kind::function: return ADAPTYST_SITE_FUNCTION;
    default: return ADAPTYST_SITE_REGION;
  }
}

// Without the payload text in brackets: rules refer to the marker's name alone.
std::string_view marker_name(std::string_view name) {
  const std::size_t bracket = name.rfind(" [");
  return bracket != std::string_view::npos && name.back() == ']' ? name.substr(0, bracket) : name;
}

struct key {
  std::vector<std::string> path;
  std::string device;
  level at;

  friend bool operator<(const key& a, const key& b) {
    return std::tie(a.path, a.device, a.at) < std::tie(b.path, b.device, b.at);
  }
};

struct sums {
  double count = 0, total_ns = 0;
  std::optional<double> bytes = 0, flops = 0;
  std::uint32_t threads = 0;  // the highest value of a row
};

// Empty: unknown. The sum is not a number if one of its values is unknown.
std::optional<double> find_sum(const region& region, const char* name) {
  const auto found = region.attributes.find(name);
  if (found == region.attributes.end() || !std::isfinite(found->second.sum)) return std::nullopt;
  return found->second.sum;
}

void add_if_known(std::optional<double>& to, const std::optional<double>& addend) {
  if (to && addend) *to += *addend;
  else to.reset();
}

std::string name_device(const profile& profile, std::uint32_t device) {
  return device < profile.devices.size() ? device_label(profile, device) : "host";
}

// The regions of a run at or above level `deepest`, by paths without regions that are deeper than the last one.
std::map<key, sums> sum_up(const profile& profile, const detail::level_settings& rules, level deepest,
                           std::vector<key>* order) {
  std::unordered_map<std::uint64_t, const region*> by_id;
  for (const region& region : profile.regions) by_id.emplace(region.id, &region);
  std::map<key, sums> all;
  for (const region& row : profile.regions) {
    if (row.path.empty() || row.count == 0) continue;  // without events: only the place of a metric
    key made{{}, name_device(profile, row.device), level_of(row, rules)};
    if (made.at > deepest) continue;
    const region* at = &row;
    for (std::size_t steps = 0; at != nullptr && steps <= row.path.size(); ++steps) {
      if (level_of(*at, rules) <= made.at) made.path.push_back(at->path.back());
      const auto around = by_id.find(at->parent);
      at = at->parent != 0 && around != by_id.end() ? around->second : nullptr;
    }
    std::reverse(made.path.begin(), made.path.end());
    const auto [entry, is_new] = all.try_emplace(made);
    entry->second.count += static_cast<double>(row.count);
    entry->second.total_ns += static_cast<double>(row.total_ns);
    add_if_known(entry->second.bytes, find_sum(row, "bytes"));
    add_if_known(entry->second.flops, find_sum(row, "flops"));
    entry->second.threads = std::max(entry->second.threads, row.threads);
    if (is_new && order != nullptr) order->push_back(std::move(made));
  }
  return all;
}

double run_time(const profile& profile) {
  double sum = 0;
  for (const process_info& process : profile.processes) sum += static_cast<double>(process.duration_ns);
  if (profile.unlisted) sum += static_cast<double>(profile.unlisted->duration_ns);
  return sum;
}

// All runs that stopped at one level.
struct level_runs {
  level which;
  std::vector<const profile*> runs;
  std::vector<std::map<key, sums>> regions;  // of each run
  std::vector<key> order;                    // the regions in their order in the profile

  std::vector<double> totals(const key& of) const {
    std::vector<double> all;
    for (const auto& run : regions)
      if (const auto found = run.find(of); found != run.end()) all.push_back(found->second.total_ns);
    return all;
  }
};

// A run as a measurement of one level. A run that recorded all its levels is one for each of them.
struct run_of_level {
  level deepest;
  const profile* measured;
};

std::vector<level_runs> sort_by_level(const std::vector<run_of_level>& runs, const detail::level_settings& rules) {
  std::map<level, level_runs> by_level;
  std::map<level, std::set<key>> seen;
  for (const run_of_level& run : runs) {
    level_runs& made = by_level.try_emplace(run.deepest, level_runs{run.deepest, {}, {}, {}}).first->second;
    made.runs.push_back(run.measured);
    std::vector<key> order;
    made.regions.push_back(sum_up(*run.measured, rules, run.deepest, &order));
    for (key& key : order)
      if (seen[run.deepest].insert(key).second) made.order.push_back(std::move(key));
  }
  std::vector<level_runs> all;
  all.reserve(by_level.size());
  for (auto& [which, made] : by_level) all.push_back(std::move(made));
  return all;
}

// Calls, bytes and flops of the runs that enter the mean time, so that rates refer to the same runs.
void add_amounts(std::vector<const sums*> runs, double trim, levelled_region& to) {
  if (runs.empty()) return;
  std::sort(runs.begin(), runs.end(), [](const sums* a, const sums* b) { return a->total_ns < b->total_ns; });
  const std::size_t trimmed = count_trimmed(runs.size(), trim), kept = runs.size() - 2 * trimmed;
  to.bytes = to.flops = 0;
  for (std::size_t at = trimmed; at != trimmed + kept; ++at) {
    to.calls += runs[at]->count;
    add_if_known(to.bytes, runs[at]->bytes);
    add_if_known(to.flops, runs[at]->flops);
  }
  to.calls /= static_cast<double>(kept);
  if (to.bytes) *to.bytes /= static_cast<double>(kept);
  if (to.flops) *to.flops /= static_cast<double>(kept);
}

levelled_region compute_region(const key& of, const level_runs& own, const level_runs* deeper, double trim,
                               const std::optional<machine_ceilings>& ceilings) {
  levelled_region made;
  made.path = of.path;
  made.at = of.at;
  made.device = of.device;
  std::vector<const sums*> in_runs;
  std::vector<double> totals, per_call;
  std::set<double> counts;
  for (const auto& run : own.regions) {
    const auto found = run.find(of);
    counts.insert(found != run.end() ? found->second.count : 0);
    if (found == run.end()) continue;
    in_runs.push_back(&found->second);
    made.threads = std::max(made.threads, found->second.threads);
    totals.push_back(found->second.total_ns);
    if (found->second.count > 0) per_call.push_back(found->second.total_ns / found->second.count);
  }
  made.runs = in_runs.size();
  made.of_runs = own.regions.size();
  made.total_ns = trimmed_mean(totals, trim).value_or(estimate{});
  made.per_call_ns = trimmed_mean(per_call, trim);
  add_amounts(std::move(in_runs), trim, made);
  if (ceilings && of.device == "host")
    made.roofline = compute_roofline(made.flops, made.bytes, made.total_ns.value, *ceilings, made.threads);
  if (deeper != nullptr) {
    for (const auto& run : deeper->regions) {
      const auto found = run.find(of);
      counts.insert(found != run.end() ? found->second.count : 0);
    }
    if (const std::optional<estimate> there = trimmed_mean(deeper->totals(of), trim))
      made.overhead_ns = difference(*there, made.total_ns);
  }
  made.calls_vary = counts.size() > 1;
  return made;
}

// Adds limits of the figures that a reader needs to know.
void add_remarks(const std::vector<run_of_level>& runs, bool are_separate, levels_result& to) {
  std::size_t fewest = runs.size();
  for (const levelled_summary& level : to.levels) fewest = std::min(fewest, level.runs);
  if (!are_separate)
    to.remarks.emplace_back(
        "all levels are from one run: the figures of a level contain the cost of recording deeper levels");
  else if (fewest < 3)
    to.remarks.push_back(
        fmt::format("{} of a level: too few to distinguish overhead from chance; use --repeat 5 or more",
                    fewest == 1 ? "one run" : fmt::format("{} runs", fewest)));
  const auto varies = std::count_if(to.regions.begin(), to.regions.end(),
                                    [](const levelled_region& region) { return region.calls_vary; });
  if (varies != 0)
    to.remarks.push_back(
        fmt::format("{} of {} regions were not called equally often in all runs (*): the program's work "
                    "varies, and differences between runs are not overhead",
                    varies, to.regions.size()));
  std::uint64_t lost = 0, sampled = 0;
  std::set<const profile*> seen;
  for (const run_of_level& run : runs) {
    if (!seen.insert(run.measured).second) continue;
    for (const auto& [reason, count] : run.measured->accounting.lost) lost += count;
    for (const region& region : run.measured->regions) sampled += region.timed_events ? 1 : 0;
  }
  if (lost != 0)
    to.remarks.push_back(fmt::format("{} events were lost over all runs; see the profiles of single runs", lost));
  if (sampled != 0)
    to.remarks.emplace_back("an overhead budget skipped events: counts and times of these regions are estimates");
}

}  // namespace

level level_of(std::string_view name, std::string_view function, region_kind kind, std::optional<level> own,
               const detail::level_settings& rules) {
  return find_level(rules, marker_name(name), function, site_kind(kind), own);
}

level level_of(const region& region, const detail::level_settings& rules) {
  return level_of(region.path.back(), region.site.function, region.kind, region.level, rules);
}

std::vector<level> list_levels(const profile& profile, const detail::level_settings& rules) {
  std::set<level> all;
  for (const region& region : profile.regions)
    if (!region.path.empty()) all.insert(level_of(region, rules));
  return {all.begin(), all.end()};
}

namespace {

levels_result compute(const std::vector<run_of_level>& runs, bool are_separate, const detail::level_settings& rules,
                      double trim, const std::optional<machine_ceilings>& ceilings) {
  levels_result result;
  result.trim = trim;
  const std::vector<level_runs> all = sort_by_level(runs, rules);
  std::map<key, levelled_region> regions;
  for (std::size_t at = 0; at != all.size(); ++at) {
    const level_runs& own = all[at];
    const level_runs* const deeper = at + 1 != all.size() ? &all[at + 1] : nullptr;
    levelled_summary summary;
    summary.which = own.which;
    summary.runs = own.runs.size();
    std::vector<double> times;
    for (const profile* const run : own.runs) times.push_back(run_time(*run));
    summary.run_ns = trimmed_mean(times, trim).value_or(estimate{});
    if (at != 0) summary.overhead_ns = difference(summary.run_ns, result.levels.back().run_ns);
    for (const key& place : own.order) {
      if (place.at != own.which) continue;
      const levelled_region made = compute_region(place, own, deeper, trim, ceilings);
      if (made.roofline) result.ceilings = ceilings;
      ++summary.regions;
      summary.events += made.calls * made.share_of_runs();
      regions.emplace(place, made);
    }
    result.levels.push_back(summary);
  }
  // In the order of the deepest runs, in which every region follows the regions around it.
  if (!all.empty())
    for (const key& place : all.back().order)
      if (const auto found = regions.find(place); found != regions.end()) {
        result.regions.push_back(std::move(found->second));
        regions.erase(found);
      }
  for (auto& [key, region] : regions) result.regions.push_back(std::move(region));
  add_remarks(runs, are_separate, result);
  return result;
}

}  // namespace

levels_result compute_levels(const std::vector<levelled_run>& runs, const detail::level_settings& rules, double trim,
                             const std::optional<machine_ceilings>& ceilings) {
  std::vector<run_of_level> all;
  all.reserve(runs.size());
  for (const levelled_run& run : runs) all.push_back({run.deepest, &run.measured});
  return compute(all, true, rules, trim, ceilings);
}

levels_result compute_levels(const profile& run, level deepest, const detail::level_settings& rules,
                             const std::optional<machine_ceilings>& ceilings) {
  std::vector<run_of_level> runs;
  for (const level which : list_levels(run, rules))
    if (which <= deepest) runs.push_back({which, &run});
  levels_result result = compute(runs, false, rules, 0, ceilings);
  for (levelled_summary& level : result.levels) level.overhead_ns.reset();
  for (levelled_region& region : result.regions) region.overhead_ns.reset();
  return result;
}

}  // namespace adaptyst::lib
