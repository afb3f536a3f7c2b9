#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace adaptyst { inline namespace v1 {

namespace {

template <class T>
void add(std::optional<T>& to, const std::optional<T>& from) {
  if (from) to = to.value_or(T{}) + *from;
}

std::string joined(const std::string& a, const std::string& b) {
  if (a == b || b.empty()) return a;
  if (a.empty()) return b;
  // A set of words, so that the order of merging leaves no trace.
  std::vector<std::string> words;
  for (const std::string* text : {&a, &b}) {
    for (std::size_t at = 0; at <= text->size();) {
      const std::size_t end = std::min(text->find(" | ", at), text->size());
      words.push_back(text->substr(at, end - at));
      at = end + 3;
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " | ") + word;
  return all;
}

auto identity(const device_usage& device) {
  // The host first; others may be CPUs as well.
  return std::make_tuple(device.kind != device_kind::cpu, device.name != "host", device.kind, device.index,
                         device.name);
}

void add(std::optional<latencies>& to, const std::optional<latencies>& from) {
  if (!from) return;
  if (!to) to.emplace();
  to->total_ns += from->total_ns;
  to->durations.merge(from->durations);
}

void add(std::optional<amount>& to, const std::optional<amount>& from) {
  if (!from) return;
  if (!to) to.emplace();
  to->sum += from->sum;
  to->time_ns += from->time_ns;
}

// Of several processes, that which has been the farthest off: the order of merging leaves no trace.
void add(std::optional<device_clock_usage>& to, const std::optional<device_clock_usage>& from) {
  const auto rank = [](const device_clock_usage& one) {
    return std::tie(one.residual_ns, one.clock, one.sync_points, one.offset_ns, one.drift_ppm);
  };
  if (from && (!to || rank(*to) < rank(*from))) to = from;
}

void add(std::optional<kernel_context>& to, const std::optional<kernel_context>& from) {
  if (!from) return;
  if (!to) to.emplace();
  to->merge(*from);
}

void add(offload_usage& to, const offload_usage& from) {
  to.observed_ns += from.observed_ns;
  add(to.waited_ns, from.waited_ns);
  add(to.busy_ns, from.busy_ns);
}

void add(device_usage& to, const device_usage& from) {
  to.observed_ns += from.observed_ns;
  add(to.busy_ns, from.busy_ns);
  add(to.kernel_ns, from.kernel_ns);
  add(to.copy_ns, from.copy_ns);
  add(to.exposed_copy_ns, from.exposed_copy_ns);
  add(to.launch_idle_ns, from.launch_idle_ns);
  add(to.awaited_ns, from.awaited_ns);
  add(to.work_ns, from.work_ns);
  to.operations += from.operations;
  to.queues = std::max(to.queues, from.queues);
  add(to.queue_wait, from.queue_wait);
  add(to.launch_latency, from.launch_latency);
  add(to.to_device, from.to_device);
  add(to.from_device, from.from_device);
  add(to.flops, from.flops);
  add(to.clock, from.clock);
  to.late += from.late;
  to.skipped += from.skipped;
  add(to.context, from.context);
}

void add(region& to, const region& from) {
  if (from.count != 0) {
    to.min_ns = to.count == 0 ? from.min_ns : std::min(to.min_ns, from.min_ns);
    to.max_ns = std::max(to.max_ns, from.max_ns);
  }
  to.threads += from.threads;
  if (to.sampled || from.sampled) to.sampled = to.sampled.value_or(to.count) + from.sampled.value_or(from.count);
  add(to.count_variance, from.count_variance);  // the estimates are independent
  add(to.total_variance, from.total_variance);
  for (const auto& [step, time_ns] : from.measured_on) to.measured_on[step] += time_ns;
  to.count += from.count;
  to.total_ns += from.total_ns;
  to.self_ns += from.self_ns;
  to.durations.merge(from.durations);
  for (const auto& [name, values] : from.attributes) to.attributes[name].merge(values);
  add(to.overhead_ns, from.overhead_ns);
  add(to.context, from.context);
  add(to.self_context, from.self_context);
  add(to.samples, from.samples);
}

// In the order of merge(), each known once.
bool is_canonical(const std::vector<region>& rows) {
  const auto known_by = [](const region& row) { return std::tie(row.path, row.id, row.device); };
  return std::adjacent_find(rows.begin(), rows.end(),
                            [&](const region& a, const region& b) { return known_by(a) >= known_by(b); }) == rows.end();
}

}  // namespace

void attribute::merge(const attribute& other) {
  if (other.count == 0) return;
  min = count == 0 ? other.min : std::min(min, other.min);
  max = count == 0 ? other.max : std::max(max, other.max);
  sum += other.sum;
  count += other.count;
}

std::optional<std::uint64_t> region::quantile_ns(double q) const {
  const std::optional<std::uint64_t> value = durations.quantile(q);
  return value ? std::optional(std::clamp(*value, min_ns, max_ns)) : std::nullopt;
}

std::optional<double> region::count_error() const {
  return count_variance ? std::optional(std::sqrt(*count_variance)) : std::nullopt;
}
std::optional<double> region::total_error_ns() const {
  return total_variance ? std::optional(std::sqrt(*total_variance)) : std::nullopt;
}

void merge(profile& into, const profile& from) {
  if (&into == &from) return merge(into, profile(from));
  into.engine = joined(into.engine, from.engine);
  into.mechanism = joined(into.mechanism, from.mechanism);
  into.reason = joined(into.reason, from.reason);

  std::vector<device_usage> devices = into.devices;
  for (const device_usage& device : from.devices) {
    const auto same = std::find_if(devices.begin(), devices.end(),
                                   [&](const device_usage& known) { return identity(known) == identity(device); });
    if (same == devices.end()) devices.push_back(device);
    else add(*same, device);
  }
  std::sort(devices.begin(), devices.end(),
            [](const device_usage& a, const device_usage& b) { return identity(a) < identity(b); });
  const auto place = [&](const device_usage& device) {
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const device_usage& known) { return identity(known) == identity(device); });
    return static_cast<std::uint32_t>(found - devices.begin());
  };

  for (region& row : into.regions)
    if (row.device < into.devices.size()) row.device = place(into.devices[row.device]);
  if (!from.regions.empty() || !is_canonical(into.regions)) {
    // A row is known by its path's id and device; two programs may differ in the device behind equal numbers.
    using key = std::tuple<std::vector<std::string>, std::uint64_t, std::uint32_t>;
    std::map<key, region> rows;
    const auto add_row = [&](region&& row) {
      key known{row.path, row.id, row.device};
      const auto [entry, is_new] = rows.try_emplace(std::move(known), std::move(row));
      if (!is_new) add(entry->second, row);
    };
    for (region& row : into.regions) add_row(std::move(row));
    for (region row : from.regions) {
      if (row.device < from.devices.size()) row.device = place(from.devices[row.device]);
      add_row(std::move(row));
    }
    into.regions.clear();
    for (auto& [known, row] : rows) into.regions.push_back(std::move(row));
  }
  into.devices = std::move(devices);
  add(into.offload, from.offload);

  into.accounting.begun += from.accounting.begun;
  into.accounting.ended += from.accounting.ended;
  into.accounting.open += from.accounting.open;
  into.accounting.unmatched += from.accounting.unmatched;
  into.accounting.unnamed += from.accounting.unnamed;
  for (const auto& [reason, count] : from.accounting.lost) into.accounting.lost[reason] += count;
  add(into.accounting.overhead_ns, from.accounting.overhead_ns);

  if (from.timeline) {
    if (!into.timeline) into.timeline.emplace();
    into.timeline->events += from.timeline->events;
    into.timeline->lost += from.timeline->lost;
  }

  if (from.samples) {
    if (!into.samples) into.samples.emplace();
    into.samples->samples += from.samples->samples;
    into.samples->observed_ns += from.samples->observed_ns;
    for (const auto& [reason, count] : from.samples->lost) into.samples->lost[reason] += count;
  }
  if (from.context) {
    if (!into.context) into.context.emplace();
    into.context->threads += from.context->threads;
    for (const auto& [reason, count] : from.context->lost) into.context->lost[reason] += count;
  }

  into.processes.insert(into.processes.end(), from.processes.begin(), from.processes.end());
  std::sort(into.processes.begin(), into.processes.end(), [](const process_info& a, const process_info& b) {
    return std::tie(a.host, a.pid, a.command, a.duration_ns) < std::tie(b.host, b.pid, b.command, b.duration_ns);
  });
}

}}  // namespace adaptyst::v1
