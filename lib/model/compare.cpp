// Matches the regions of two profiles or of two sets of profiles, and decides which differences exceed chance: a rank
// test of single events for one run on each side, a permutation test for several runs.
#include <adaptyst/compare.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "context.hpp"
#include "set_test.hpp"
#include "unmarked.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using key = std::tuple<std::vector<std::string>, region_kind, std::optional<device_kind>, std::uint32_t, bool>;

// The sums of a region in one run.
struct summed {
  std::uint64_t count = 0;
  std::optional<std::uint64_t> total_ns;
  bool is_known = true;       // whether the time on a core is known
  double total_variance = 0;  // of an estimate
  histogram durations;
};

struct sides {
  std::optional<compared_side> before, after;
  std::vector<std::optional<summed>> runs;  // runs before the change come first
};

std::optional<double> log_mean(const std::optional<summed>& summed) {
  if (!summed || summed->total_ns.value_or(0) == 0 || summed->count == 0) return std::nullopt;
  return std::log(static_cast<double>(*summed->total_ns)) - std::log(static_cast<double>(summed->count));
}

// The kernel's context may cover only a part of the events, for example if some ranks have none.
std::optional<std::uint64_t> find_time_on_core(const region& row) {
  constexpr double as_good_as_all = 0.99;
  if (!row.context || row.context->wall_ns == 0 ||
      static_cast<double>(row.context->wall_ns) < as_good_as_all * static_cast<double>(row.total_ns))
    return std::nullopt;
  return row.context->on_cpu_ns();
}

void add_rows(std::map<key, sides>& map, const profile& profile, std::size_t run, std::size_t runs, compared_time by) {
  for (const region& row : profile.regions) {
    const bool has_device = row.device < profile.devices.size();
    const device_usage* const device = has_device ? &profile.devices[row.device] : nullptr;
    const key same{row.path, row.kind, has_device ? std::optional(device->kind) : std::nullopt,
                   has_device ? device->index : row.device, profile.is_host(row.device)};
    sides& there = map[same];
    there.runs.resize(runs);
    std::optional<summed>& sum = there.runs[run];
    if (!sum) sum.emplace();
    sum->count += row.count;
    if (by == compared_time::running) {
      // An unknown part makes the sum unknown.
      const std::optional<std::uint64_t> time_ns = find_time_on_core(row);
      sum->is_known = sum->is_known && time_ns;
      if (sum->is_known) sum->total_ns = sum->total_ns.value_or(0) + *time_ns;
      else sum->total_ns.reset();
      continue;
    }
    if (row.total_ns != 0 || row.durations.count() != 0) sum->total_ns = sum->total_ns.value_or(0) + row.total_ns;
    sum->total_variance += row.total_variance.value_or(0);
    sum->durations.merge(row.durations);
  }
}

void add_up(sides& sides, std::size_t before) {
  for (std::size_t run = 0; run != sides.runs.size(); ++run) {
    if (!sides.runs[run]) continue;
    std::optional<compared_side>& side = run < before ? sides.before : sides.after;
    if (!side) side.emplace();
    ++side->runs;
    side->count += sides.runs[run]->count;
    if (sides.runs[run]->total_ns) side->total_ns = side->total_ns.value_or(0) + *sides.runs[run]->total_ns;
  }
}

double find_total(const std::optional<compared_side>& side) {
  return side ? static_cast<double>(side->total_ns.value_or(0)) : 0;
}

change_verdict direction(double change) { return change > 0 ? change_verdict::slower : change_verdict::faster; }

change_interval around(double log_change, double reach) {
  return {std::expm1(log_change - reach), std::expm1(log_change + reach)};
}

// Adds the errors in the profiles to the minimum error.
void compare_single_runs(std::vector<compared_region>& regions, const std::vector<sides>& rows) {
  constexpr double certainty = 1.96;  // 95 % of a normal distribution
  std::vector<double*> tests;
  for (std::size_t at = 0; at != regions.size(); ++at) {
    compared_region& region = regions[at];
    const std::vector<std::optional<summed>>& runs = rows[at].runs;
    const std::optional<double> before = log_mean(runs[0]);
    const std::optional<double> after = log_mean(runs[1]);
    if (!before || !after) continue;
    double variance = 0;
    for (const std::optional<summed>& run : runs) {
      const auto total = static_cast<double>(*run->total_ns);
      variance += run->total_variance / (total * total);
    }
    region.change_of_mean = *region.after->mean_ns() / *region.before->mean_ns() - 1;
    region.interval = around(*after - *before, std::log1p(single_run_floor) + certainty * std::sqrt(variance));
    const std::optional<rank_test_result> test = rank_test(runs[0]->durations, runs[1]->durations);
    if (!test) continue;
    region.p = test->p;
    region.slower = test->slower;
    tests.push_back(&*region.p);
  }
  lib::correct_for_number(tests);
  for (compared_region& region : regions) {
    if (!region.p) continue;
    const bool is_beyond_floor = region.interval->low > 0 || region.interval->high < 0;
    const bool agree = (*region.slower > 0.5) == (*region.change_of_mean > 0);
    region.found = is_beyond_floor && agree && *region.p < significance_level ? direction(*region.change_of_mean)
                                                                              : change_verdict::unclear;
  }
}

void compare_sets(comparison& in, const std::vector<sides>& rows) {
  std::vector<lib::run_values> values;
  for (const sides& row : rows) {
    lib::run_values& run_values = values.emplace_back();
    for (const std::optional<summed>& run : row.runs)
      run_values.push_back(log_mean(run).value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  const bool permuted = lib::min_permuted_p(in.runs_before, in.runs_after) < significance_level;
  in.method = permuted ? comparison_method::permutations : comparison_method::welch;
  std::vector<std::optional<double>> chances;
  if (permuted) chances = lib::permuted_p(values, in.runs_before);
  std::vector<double*> tests;
  for (std::size_t at = 0; at != values.size(); ++at) {
    const std::optional<lib::welch> found = lib::compare_means(values[at], in.runs_before);
    if (!found) continue;
    compared_region& region = in.regions[at];
    region.change_of_mean = std::expm1(found->difference);
    region.interval = around(found->difference, found->reach());
    region.p = permuted ? chances[at] : found->p();
    tests.push_back(&*region.p);
  }
  if (!permuted) lib::correct_for_number(tests);
  for (compared_region& region : in.regions)
    if (region.p)
      region.found = *region.p < significance_level ? direction(*region.change_of_mean) : change_verdict::unclear;
}

using profiles = std::vector<const profile*>;

bool is_same(const sides& both) {
  const std::optional<summed>&a = both.runs[0], &b = both.runs[1];
  return a && b && a->count == b->count && a->total_ns == b->total_ns && a->durations == b->durations;
}

std::optional<double> find_no_core(const profiles& side) {
  double sum = 0;
  for (const profile* const run : side) {
    const std::optional<lib::core_waits> waits = lib::sum_core_waits(*run);
    if (!waits || waits->able_ns <= 0) return std::nullopt;
    sum += waits->waited_ns / waits->able_ns;
  }
  return side.empty() ? std::nullopt : std::optional(sum / static_cast<double>(side.size()));
}

comparison compare(const profiles& before, const profiles& after, double min_share, compared_time by) {
  comparison made;
  made.by = by;
  made.no_core_before = find_no_core(before);
  made.no_core_after = find_no_core(after);
  made.runs_before = before.size();
  made.runs_after = after.size();
  made.differing = lib::find_differing_settings(before, after);
  profiles all = before;
  all.insert(all.end(), after.begin(), after.end());
  std::map<key, sides> found;
  double min_before_ns = 0;
  double min_after_ns = 0;
  for (std::size_t run = 0; run != all.size(); ++run) {
    add_rows(found, *all[run], run, all.size(), by);
    (run < before.size() ? min_before_ns : min_after_ns) +=
        min_share * static_cast<double>(lib::compute_wall_ns(*all[run]));
  }
  made.is_equal = before.size() == 1 && after.size() == 1 &&
                  std::all_of(found.begin(), found.end(), [](const auto& entry) { return is_same(entry.second); });
  std::vector<sides> rows;
  for (auto& [names, both] : found) {
    add_up(both, before.size());
    if (find_total(both.before) < min_before_ns && find_total(both.after) < min_after_ns) {
      ++made.ignored;
      continue;
    }
    compared_region& region = made.regions.emplace_back();
    std::tie(region.path, region.kind, region.device_kind, region.device_index, region.on_host) = names;
    region.before = both.before;
    region.after = both.after;
    rows.push_back(std::move(both));
  }
  if (before.size() == 1 && after.size() == 1) compare_single_runs(made.regions, rows);
  else if (!rows.empty()) compare_sets(made, rows);
  for (compared_region& region : made.regions)
    if (!region.before || !region.after)
      region.found = region.before ? change_verdict::vanished : change_verdict::appeared;
  const auto moved = [&](const compared_region& region) {
    return std::abs(find_total(region.after) / static_cast<double>(after.size()) -
                    find_total(region.before) / static_cast<double>(before.size()));
  };
  std::stable_sort(made.regions.begin(), made.regions.end(),
                   [&](const compared_region& a, const compared_region& b) { return moved(a) > moved(b); });
  return made;
}

}  // namespace

std::optional<double> compared_side::mean_ns() const {
  if (!total_ns || count == 0) return std::nullopt;
  return static_cast<double>(*total_ns) / static_cast<double>(count);
}

std::optional<double> compared_side::total_of_run_ns() const {
  if (!total_ns || runs == 0) return std::nullopt;
  return static_cast<double>(*total_ns) / static_cast<double>(runs);
}

std::optional<double> compared_region::change_of_total() const {
  const auto total = [](const std::optional<compared_side>& side) {
    return side ? side->total_of_run_ns() : std::nullopt;
  };
  const std::optional<double> was = total(before);
  const std::optional<double> is = total(after);
  if (!was || !is || *was == 0) return std::nullopt;
  return *is / *was - 1;
}

bool compared_region::slower_by(double fraction) const {
  return found == change_verdict::slower && *change_of_mean > fraction;
}

comparison compare_runs(const std::vector<profile>& before, const std::vector<profile>& after, double min_share,
                        compared_time by) {
  const auto addresses = [](const std::vector<profile>& all) {
    profiles made;
    for (const profile& profile : all) made.push_back(&profile);
    return made;
  };
  return compare(addresses(before), addresses(after), min_share, by);
}

comparison compare(const profile& before, const profile& after, double min_share, compared_time by) {
  return compare(profiles{&before}, profiles{&after}, min_share, by);
}

}}  // namespace adaptyst::v1
