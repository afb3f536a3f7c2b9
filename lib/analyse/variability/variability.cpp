// Makes results from sums over windows. Loops over floating-point numbers use an order that depends only on the trace,
// so the result has the same bytes for any number of threads and ranks.
#include "variability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "../../support/error.hpp"
#include "flags.hpp"
#include "reasons.hpp"

namespace adaptyst::lib {

namespace {

// Sorted texts, and the place of each name number of the parts among them.
struct ordered_names {
  std::vector<std::string> texts;
  std::vector<std::uint32_t> places;
};

ordered_names put_in_order(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
  ordered_names made;
  made.places.resize(names.size());
  for (const std::uint32_t number : order) {
    if (made.texts.empty() || made.texts.back() != names[number]) made.texts.push_back(names[number]);
    made.places[number] = static_cast<std::uint32_t>(made.texts.size() - 1);
  }
  return made;
}

constexpr std::uint64_t max_compared_windows = 8'000'000;
// A window that the begin or end of the trace cuts is compared if at least this share remains.
constexpr double least_part_of_window = 0.99;

double mean_log(const name_sums& of) { return static_cast<double>(of.log_sum) / static_cast<double>(of.count); }

class comparison {
 public:
  comparison(variability_parts parts, const ordered_names& names, window_grid grid,
             const variability_settings& settings, variability_groups groups)
      : parts_(std::move(parts)), names_(names) {
    made_.grid = grid;
    made_.settings = settings;
    made_.groups = std::move(groups);
    renumber();
  }

  variability_result make() {
    made_.first_ns = parts_.windows.empty() ? 0 : parts_.first_ns;
    made_.last_ns = parts_.last_ns;
    if (made_.settings.metric == variability_metric::stall && !made_.settings.has_stalls())
      made_.remarks.push_back(
          made_.settings.has_regions
              ? "stalls are unknown for regions: only a device that copies can stall"
              : "stalls are unknown by kernel, because a copy belongs to a device: use --by device");
    find_spreads();
    list_names();
    list_copies();
    list_waits();
    if (made_.settings.by == variability_by::device && !parts_.windows.empty())
      made_.efficiency = find_device_efficiencies(parts_.windows, made_.grid, made_.first_ns, made_.last_ns);
    if (compares_idle_windows()) add_idle_windows();
    list_windows();
    compare_windows();
    add_reasons(made_, {parts_.entries, names_.texts, sums_}, std::move(flagged_));
    parts_.entries = {};
    choose_top();
    correlate();
    made_.differences = find_differences(sums_);
    made_.findings = find_findings(made_);
    return std::move(made_);
  }

 private:
  void renumber() {
    const auto place = [this](std::uint32_t number) { return number == no_name ? no_name : names_.places[number]; };
    for (window_row& row : parts_.windows) row.name = place(row.name);
    for (window_entry& entry : parts_.entries) entry.name = place(entry.name);
    std::sort(parts_.windows.begin(), parts_.windows.end(), [](const window_row& a, const window_row& b) {
      return std::tie(a.window, a.group, a.name) < std::tie(b.window, b.group, b.name);
    });
    // The entries of a window follow the order of windows.
    const bool by_name = made_.settings.by_name();
    std::sort(parts_.entries.begin(), parts_.entries.end(), [by_name](const window_entry& a, const window_entry& b) {
      return by_name ? std::tie(a.window, a.name, a.group) < std::tie(b.window, b.name, b.group)
                     : std::tie(a.window, a.group, a.name) < std::tie(b.window, b.group, b.name);
    });
    for (const auto& [key, sums] : parts_.names)
      sums_[{static_cast<std::uint32_t>(key >> 32U), place(static_cast<std::uint32_t>(key))}] = sums.get();
  }

  void list_names() {
    std::map<std::uint32_t, wide_uint> totals;
    for (const auto& [key, sums] : sums_) totals[key.first] += sums->sum;
    for (const auto& [key, sums] : sums_) {
      const auto all = static_cast<double>(totals[key.first]);
      variability_name made;
      made.name = names_.texts[key.second];
      made.group = key.first;
      made.count = sums->count;
      made.min = sums->min;
      made.max = sums->max;
      made.total = static_cast<double>(sums->sum);
      made.mean = mean(sums->count, sums->sum);
      made.std = deviation(sums->count, sums->sum, sums->squares);
      made.p25 = histogram_quantile(*sums, 0.25);
      made.p50 = histogram_quantile(*sums, 0.5);
      made.p75 = histogram_quantile(*sums, 0.75);
      made.p95 = histogram_quantile(*sums, 0.95);
      made.p99 = histogram_quantile(*sums, 0.99);
      made.share = all > 0 ? made.total / all : 0;
      const spread& logs = spreads_.at(key);
      made.log_mean = logs.mean * log_unit;
      made.log_variance = logs.variance;
      made_.names.push_back(std::move(made));
    }
    std::stable_sort(made_.names.begin(), made_.names.end(),
                     [](const variability_name& a, const variability_name& b) { return a.total > b.total; });
  }

  void list_copies() {
    for (const auto& [key, sums] : parts_.copies) {
      const bool is_counted = !sums.has_unknown_bytes && sums.bytes <= std::numeric_limits<std::uint64_t>::max();
      made_.copies.push_back({key.first, key.second, sums.count, static_cast<double>(sums.time_ns),
                              is_counted ? std::optional(static_cast<std::uint64_t>(sums.bytes)) : std::nullopt});
    }
  }

  // If copies and delays were independent, the limit would name a kernel in less than 1 % of traces. The delay of a
  // kernel that starts within the gap contains the copy, so the kernels that start later must be fewer.
  void list_waits() {
    if (made_.settings.by != variability_by::device) return;
    const auto is_compared = [](const name_sums& sums) {
      return sums.waits.windows >= min_wait_windows && sums.waits.count > sums.waits.later;
    };
    const auto compared =
        std::count_if(sums_.begin(), sums_.end(), [&](const auto& of) { return is_compared(*of.second); });
    if (compared == 0) return;
    const double errors = std::max(3.0, std::sqrt(2 * std::log(100 * static_cast<double>(compared))));
    for (const auto& [key, sums] : sums_) {
      if (!is_compared(*sums)) continue;
      const wait_sums& of = sums->waits;
      const auto n = static_cast<long double>(of.windows);
      const auto part = [n](wide_uint sum, wide_uint a, wide_uint b) {
        return n * static_cast<long double>(sum) - static_cast<long double>(a) * static_cast<long double>(b);
      };
      const long double of_copies = part(of.copy_squares, of.copy_logs, of.copy_logs),
                        of_delays = part(of.delay_squares, of.delay_logs, of.delay_logs);
      if (of_copies <= 0 || of_delays <= 0) continue;
      variability_wait made;
      made.r = static_cast<double>(part(of.products, of.copy_logs, of.delay_logs) / std::sqrt(of_copies * of_delays));
      made.limit = std::max(least_wait_r, errors / std::sqrt(static_cast<double>(of.windows)));
      if (made.r < made.limit) continue;
      made.name = names_.texts[key.second];
      made.group = key.first;
      made.windows = of.windows;
      made.count = of.count;
      made.copy_ns = mean(of.count, of.copy_ns);
      made.delay_ns = mean(of.count, of.delay_ns);
      made_.waits.push_back(std::move(made));
    }
    std::stable_sort(made_.waits.begin(), made_.waits.end(), [](const variability_wait& a, const variability_wait& b) {
      return a.delay_ns * static_cast<double>(a.count) > b.delay_ns * static_cast<double>(b.count);
    });
  }

  // Both metrics look for idle devices; for a single name, a window without its work has no meaning.
  bool compares_idle_windows() const {
    const variability_metric metric = made_.settings.metric;
    return !made_.settings.by_name() &&
           (metric == variability_metric::busy || metric == variability_metric::launch_gap);
  }

  void add_idle_windows() {
    if (parts_.windows.empty()) return;
    std::map<std::uint32_t, std::uint64_t> present;  // number of windows of a group
    for (const window_row& row : parts_.windows) ++present[row.group];
    const window_grid& grid = made_.grid;
    const std::uint64_t first = (made_.first_ns - grid.origin_ns) / grid.width_ns;
    const std::uint64_t last = (std::max(made_.last_ns, made_.first_ns + 1) - 1 - grid.origin_ns) / grid.width_ns;
    if ((last - first + 1) > max_compared_windows / present.size())
      throw error(fmt::format("too many windows, with the idle ones of {}: more than {} million",
                              present.size() == 1 ? "the group" : fmt::format("{} groups", present.size()),
                              max_compared_windows / 1'000'000),
                  0, "choose larger windows with --window");
    std::vector<window_row> all;
    all.reserve((last - first + 1) * present.size());
    auto present_row = parts_.windows.begin();
    for (std::uint64_t window = first; window <= last; ++window)
      for (const auto& [group, count] : present) {
        if (present_row != parts_.windows.end() && present_row->window == window && present_row->group == group) {
          all.push_back(*present_row++);
          continue;
        }
        window_row idle;
        idle.window = window;
        idle.group = group;
        all.push_back(idle);
      }
    // Kernels of zero length at the very end start in an additional window.
    all.insert(all.end(), present_row, parts_.windows.end());
    parts_.windows = std::move(all);
  }

  // For log2 of the durations of each name; the mean is in units of fixed_log2().
  void find_spreads() {
    for (const auto& [key, sums] : sums_) {
      const auto count = static_cast<double>(sums->count);
      const double mean = mean_log(*sums);
      const double variance = (static_cast<double>(sums->log_squares) / count - mean * mean) * log_unit * log_unit;
      spreads_[key] = {mean, std::max(0.0, variance), third_log_moment(*sums)};
    }
  }

  void list_windows() {
    const window_grid& grid = made_.grid;
    auto entry = parts_.entries.begin();
    const bool by_name = made_.settings.by_name();
    made_.windows.reserve(parts_.windows.size());
    chances_.reserve(parts_.windows.size());
    for (const window_row& row : parts_.windows) {
      variability_window window;
      window.start_ns = grid.origin_ns + row.window * grid.width_ns;
      window.end_ns = window.start_ns + grid.width_ns;
      window.group = row.group;
      if (row.name != no_name) window.name = names_.texts[row.name];
      window.count = row.count;
      window.mean = mean(row.count, row.sum);
      window.std = deviation(row.count, row.sum, row.squares);
      window.min = row.min;
      window.max = row.max;
      window.p50 = row.p50;
      window.p95 = row.p95;
      window.busy_ns = row.busy_ns;
      window.copy_ns = row.copy_ns;
      window.stall_ns = row.stall_ns;
      window.active_ns = row.active_ns;
      window.copied_bytes = row.copied_bytes;
      window.has_unknown_bytes = row.has_unknown_bytes;
      // The expected time of its spans from the means of their names, as a sum of logarithms.
      double expected = 0, variance = 0, third = 0;
      std::uint64_t longest = 0;
      for (; entry != parts_.entries.end() && entry->window == row.window &&
             (by_name ? entry->name == row.name : entry->group == row.group);
           ++entry) {
        const spread& of_name = spreads_.at({entry->group, entry->name});
        const auto many = static_cast<double>(entry->count);
        expected += many * of_name.mean;
        variance += many * of_name.variance;
        third += many * of_name.third;
        if (entry->sum <= longest) continue;
        longest = entry->sum;
        window.longest = names_.texts[entry->name];
      }
      if (row.sum != 0) window.longest_share = static_cast<double>(longest) / static_cast<double>(row.sum);
      window.value = value(row, window, expected);
      made_.windows.push_back(window);
      const auto count = static_cast<double>(std::max<std::uint64_t>(1, row.count));
      chances_.push_back({std::sqrt(variance) / count, variance > 0 ? third / std::pow(variance, 1.5) : 0, row.count});
    }
    parts_.windows = {};
  }

  std::optional<double> value(const window_row& row, const variability_window& window, double expected) const {
    switch (made_.settings.metric) {
      case variability_metric::duration:
        if (row.count == 0) return std::nullopt;
        return std::exp2((static_cast<double>(row.log_sum) - expected) / static_cast<double>(row.count) * log_unit);
      case variability_metric::stall:
        if (!made_.settings.has_stalls()) return std::nullopt;
        return static_cast<double>(row.stall_ns);
      case variability_metric::busy:
        if (!is_whole(made_, window)) return std::nullopt;
        return static_cast<double>(row.busy_ns);
      case variability_metric::launch_gap: return find_launch_gap(made_, window);
    }
    return std::nullopt;
  }

  // Converts to the unit of the comparison.
  double compared(double value) const {
    return made_.settings.metric == variability_metric::duration ? std::log2(value) : value;
  }

  // The reverse.
  double original(double compared) const {
    return made_.settings.metric == variability_metric::duration ? std::exp2(compared) : compared;
  }

  void compare_windows() {
    std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::size_t>> series;
    std::uint64_t compared_windows = 0;
    for (std::size_t at = 0; at != made_.windows.size(); ++at) {
      const variability_window& window = made_.windows[at];
      // A stall in a partial window is shorter.
      if (!window.value || (made_.settings.metric == variability_metric::stall && !is_whole(made_, window))) continue;
      series[{window.group, window.name}].push_back(at);
      ++compared_windows;
    }
    for (const auto& [key, windows] : series) {
      std::vector<double> values;
      values.reserve(windows.size());
      for (const std::size_t at : windows) values.push_back(compared(*made_.windows[at].value));
      const flag_rule rule(made_.settings, values, compared_windows, made_.grid.width_ns);
      for (std::size_t number = 0; number != windows.size(); ++number) {
        const std::size_t at = windows[number];
        if (!rule.is_flagged(values[number], chances_[at])) continue;
        made_.windows[at].is_flagged = true;
        const flag_rule::evidence evidence = rule.find_evidence(values[number], chances_[at]);
        flagged_.push_back({at, evidence.z, evidence.limit, original(rule.median()), windows.size()});
      }
      fences at = rule.at();
      for (double* const bound : {&at.q1, &at.q3, &at.lower, &at.upper}) *bound = original(*bound);
      made_.fence_list.push_back({key.first, std::string(key.second), windows.size(), at});
    }
    chances_ = {};
  }

  void choose_top() {
    for (std::size_t at = 0; at != made_.windows.size(); ++at)
      if (made_.windows[at].value) made_.top.push_back(at);
    const bool is_low_bad = made_.settings.metric == variability_metric::busy;
    const auto worse = [&](std::size_t a, std::size_t b) {
      const double x = *made_.windows[a].value, y = *made_.windows[b].value;
      if (x != y) return is_low_bad ? x < y : x > y;
      return a < b;  // the earlier start
    };
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(made_.settings.top, made_.top.size()));
    std::partial_sort(made_.top.begin(), made_.top.begin() + static_cast<std::ptrdiff_t>(count), made_.top.end(),
                      worse);
    made_.top.resize(count);
  }

  void correlate() {
    std::vector<double> stalls, slowness;
    for (const variability_window& window : made_.windows) {
      if (window.count == 0) continue;
      stalls.push_back(static_cast<double>(window.stall_ns));
      slowness.push_back(window.p95);
    }
    made_.pairs = stalls.size();
    made_.pearson = pearson(stalls, slowness);
    made_.spearman = spearman(stalls, slowness);
  }

  variability_parts parts_;
  const ordered_names& names_;
  sums_by_name sums_;
  struct spread {
    double mean = 0, variance = 0, third = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, spread> spreads_;  // by group and name
  std::vector<window_chance> chances_;                                 // by window
  std::vector<flag_evidence> flagged_;
  variability_result made_;
};

}  // namespace

variability_result find_variability(variability_parts parts, const std::vector<std::string>& names, window_grid grid,
                                    const variability_settings& settings, variability_groups groups) {
  ordered_names ordered = put_in_order(names);
  variability_result made = comparison(std::move(parts), ordered, grid, settings, std::move(groups)).make();
  made.texts = std::make_shared<const std::vector<std::string>>(std::move(ordered.texts));
  return made;
}

bool is_whole(const variability_result& in, const variability_window& window) {
  const std::uint64_t begin = std::max(window.start_ns, in.first_ns), end = std::min(window.end_ns, in.last_ns);
  return end > begin && static_cast<double>(end - begin) >=
                            least_part_of_window * static_cast<double>(window.end_ns - window.start_ns);
}

std::optional<double> find_launch_gap(const variability_result& in, const variability_window& window) {
  if (!is_whole(in, window)) return std::nullopt;
  const std::uint64_t begin = std::max(window.start_ns, in.first_ns), end = std::min(window.end_ns, in.last_ns);
  return static_cast<double>(end - begin - window.active_ns) / std::max(static_cast<double>(window.count), 1.0);
}

std::optional<std::uint64_t> find_copied_bytes(const variability_result& in, const variability_window& window) {
  if (!in.settings.has_stalls() || window.has_unknown_bytes) return std::nullopt;
  return window.copied_bytes;
}

variability_group find_group(const variability_result& in, std::uint32_t group) {
  if (const auto entry = in.groups.find(group); entry != in.groups.end()) return entry->second;
  const variability_by by = in.settings.by;
  const bool is_device = by == variability_by::device || by == variability_by::kernel;
  return {is_device ? variability_group::kind::device : variability_group::kind::rank, group, {}, {}, {}};
}

std::string group_name(const variability_result& in, std::uint32_t group) {
  const variability_group found = find_group(in, group);
  switch (found.what) {
    case variability_group::kind::device: return fmt::format("GPU {}", found.number);
    case variability_group::kind::rank: return fmt::format("rank {}", found.number);
    case variability_group::kind::process: break;
  }
  const std::string& where = found.host.empty() ? found.trace : found.host;
  return fmt::format("process {}{}{}", found.number, where.empty() ? "" : " of ", where);
}

double histogram_quantile(const name_sums& of, double q) {
  if (of.count == 0) return 0;
  const double wanted = std::ceil(q * static_cast<double>(of.count));
  std::uint64_t below = 0;
  unsigned bucket = 0;
  constexpr unsigned last = ADAPTYST_HISTOGRAM_BUCKETS - 1;
  for (; bucket != last; ++bucket)
    if (static_cast<double>(below += of.buckets[bucket]) >= wanted) break;
  const auto low = static_cast<double>(std::max(adaptyst_histogram_lower(bucket), of.min));
  const auto high = static_cast<double>(std::min(adaptyst_histogram_lower(bucket + 1) - 1, of.max));
  return low >= high ? low : 2 * low * high / (low + high);
}

}  // namespace adaptyst::lib
