// Subtracts successive readings and divides by the time between them. Readings of running threads are not simultaneous;
// a sum that seems to shrink counts as unchanged.
#include "activity.hpp"

#include <adaptyst/detail/histogram.h>
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace adaptyst { inline namespace v1 {

namespace {

// The path's id and the device: two programs may have different devices with equal numbers.
using row_key = std::tuple<std::uint64_t, std::optional<device_kind>, std::uint32_t>;
using device_key = std::tuple<device_kind, std::uint32_t, std::string>;

struct row_sums {
  std::uint64_t count = 0, total_ns = 0, self_ns = 0;
  histogram durations;
};

// Readings of running threads are not simultaneous, so a sum may seem to shrink.
std::uint64_t grown(std::uint64_t from, std::uint64_t later) { return later - std::min(from, later); }

histogram grown(const histogram& from, const histogram& later) {
  histogram made;
  for (std::size_t at = later.buckets().size(); at-- != 0;) {
    const std::uint64_t before = at < from.buckets().size() ? from.buckets()[at] : 0;
    made.add_bucket(static_cast<unsigned>(at), grown(before, later.buckets()[at]));
  }
  return made;
}

std::optional<double> fraction(std::uint64_t part, double value) {
  if (value <= 0) return std::nullopt;
  return static_cast<double>(part) / value;
}

std::optional<double> utilisation(std::uint64_t busy_ns, double wall_ns) {
  const std::optional<double> used = fraction(busy_ns, wall_ns);
  return used ? std::optional(std::min(1.0, *used)) : std::nullopt;
}

// The maximum share of the durations within the interval; exact if no duration exceeds the interval.
double within(const histogram& durations, std::uint64_t total_ns, double interval_ns) {
  const std::vector<std::uint64_t>& buckets = durations.buckets();
  if (buckets.empty() ||
      static_cast<double>(adaptyst_histogram_lower(static_cast<unsigned>(buckets.size()))) <= interval_ns)
    return static_cast<double>(total_ns);
  double sum_ns = 0;
  for (unsigned bucket = 0; bucket != buckets.size(); ++bucket)
    if (buckets[bucket] != 0)
      sum_ns += static_cast<double>(buckets[bucket]) *
                std::min(interval_ns, static_cast<double>(adaptyst_histogram_lower(bucket + 1)));
  return std::min(sum_ns, static_cast<double>(total_ns));
}

}  // namespace

struct activity_meter::state {
  bool has_begun = false;
  double wall_ns = 0;
  std::map<row_key, row_sums> rows;
  std::map<device_key, std::uint64_t> busy_ns, busy_at_first_ns;
  account accounting;
  std::map<std::string, std::uint64_t> functions;

  active_region measure(const profile& profile, const region& now, double interval_ns) {
    active_region made;
    const bool is_listed = now.device < profile.devices.size();
    made.path = now.path;
    made.id = now.id;
    made.kind = now.kind;
    if (is_listed) made.device_kind = profile.devices[now.device].kind;
    made.device_index = is_listed ? profile.devices[now.device].index : now.device;
    made.on_host = profile.is_host(now.device);
    made.count_so_far = now.count;
    made.total_so_far_ns = now.total_ns;
    row_sums& last = rows[{now.id, made.device_kind, made.device_index}];
    made.count = grown(last.count, now.count);
    made.per_second = fraction(made.count, interval_ns * 1e-9);
    if (now.durations.count() != 0) {
      const histogram durations = grown(last.durations, now.durations);
      const std::uint64_t total_ns = grown(last.total_ns, now.total_ns);
      made.self_ns = grown(last.self_ns, now.self_ns);
      if (interval_ns > 0) {
        const double within_ns = within(durations, total_ns, interval_ns);
        // The part of the self time in the interval is unknown; it is assumed to equal that of the total time.
        const double part = total_ns != 0 ? within_ns / static_cast<double>(total_ns) : 1;
        made.total_share = within_ns / interval_ns;
        made.self_share = part * static_cast<double>(made.self_ns) / interval_ns;
      }
      made.mean_ns = fraction(total_ns, static_cast<double>(made.count));
      if (const std::optional<std::uint64_t> p99 = durations.quantile(0.99))
        made.p99_ns = std::clamp(*p99, now.min_ns, std::max(now.min_ns, now.max_ns));
    }
    last.count = now.count;
    last.total_ns = now.total_ns;
    last.self_ns = now.self_ns;
    last.durations = now.durations;  // reuses its memory
    return made;
  }

  active_device measure(const device_usage& now, double interval_ns) {
    active_device made{now.kind, now.index, now.name, std::nullopt, std::nullopt, false};
    if (!now.busy_ns) return made;
    const device_key key{now.kind, now.index, now.name};
    const auto [first, is_new] = busy_at_first_ns.try_emplace(key, has_begun ? 0 : *now.busy_ns);
    std::uint64_t& last = is_new ? (busy_ns[key] = first->second) : busy_ns[key];
    made.utilisation = utilisation(grown(last, *now.busy_ns), interval_ns);
    made.utilisation_so_far = utilisation(grown(first->second, *now.busy_ns), wall_ns);
    last = *now.busy_ns;
    return made;
  }

  void measure(activity& activity, const account& now) {
    activity.events = grown(accounting.ended, now.ended);
    activity.events_so_far = now.ended;
    activity.events_per_second = fraction(activity.events, activity.wall_ns * 1e-9);
    activity.lost_so_far = now.lost;
    for (const auto& [reason, count] : now.lost)
      if (const std::uint64_t more = grown(accounting.lost[reason], count); more != 0) activity.lost[reason] = more;
    // Before the first event, an unknown cost is 0; later it stays unknown.
    const std::optional<double> before = accounting.begun == 0 ? std::optional(0.0) : accounting.overhead_ns;
    if (now.overhead_ns && before && activity.wall_ns > 0)
      activity.overhead = std::max(0.0, *now.overhead_ns - *before) / activity.wall_ns;
    accounting = now;
  }
};

activity_meter::activity_meter() : state_(std::make_unique<state>()) {}
activity_meter::~activity_meter() = default;

activity activity_meter::next(const profile& now, double wall_ns) {
  activity made;
  made.engine = now.engine;
  made.processes = now.processes;
  made.wall_ns = state_->has_begun ? wall_ns : 0;
  state_->wall_ns += made.wall_ns;
  for (const region& row : now.regions)
    if (active_region region = state_->measure(now, row, made.wall_ns); region.count != 0)
      made.regions.push_back(std::move(region));
  for (std::uint32_t at = 0; at != now.devices.size(); ++at) {
    made.devices.push_back(state_->measure(now.devices[at], made.wall_ns));
    made.devices.back().is_host = now.is_host(at);
  }
  for (const auto& [name, count] : now.functions)
    if (const std::uint64_t more = grown(state_->functions[name], count); more != 0) made.functions[name] = more;
  state_->functions = now.functions;
  state_->measure(made, now.accounting);
  state_->has_begun = true;
  std::sort(made.regions.begin(), made.regions.end(), [](const active_region& a, const active_region& b) {
    return std::tie(b.self_ns, b.count, a.path) < std::tie(a.self_ns, a.count, b.path);
  });
  return made;
}

void add_idle(activity& shown, const activity& earlier, std::size_t max_regions) {
  const auto key = [](const active_region& row) { return std::make_tuple(row.id, row.device_kind, row.device_index); };
  std::set<row_key> there;
  for (const active_region& row : shown.regions) there.insert(key(row));
  for (const active_region& row : earlier.regions) {
    if (shown.regions.size() >= max_regions) return;
    if (there.count(key(row)) != 0) continue;
    active_region idle = row;
    idle.count = idle.self_ns = 0;
    if (idle.per_second) idle.per_second = 0;
    if (idle.self_share) idle.self_share = idle.total_share = 0;
    idle.mean_ns.reset();
    idle.p99_ns.reset();
    shown.regions.push_back(std::move(idle));
  }
}

}}  // namespace adaptyst::v1
