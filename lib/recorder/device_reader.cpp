// Reads the list of devices and their operations, and computes their usage.
#include "device_reader.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "clock_line.hpp"

namespace adaptyst::lib {

namespace {

using detail::device_entry;
using detail::device_sums;
using detail::interval_union;

// The kind and the clock are numbers from another process: unknown numbers become `other` and `unknown`.
device_kind to_kind(std::uint32_t kind) {
  return kind < static_cast<std::uint32_t>(device_kind::other) ? static_cast<device_kind>(kind) : device_kind::other;
}

clock_id to_clock(std::uint32_t id) {
  return id <= static_cast<std::uint32_t>(clock_id::device) ? static_cast<clock_id>(id) : clock_id::unknown;
}

std::uint64_t bounded_sum(const interval_union& all, std::uint64_t max_ns) { return std::min(all.total_ns, max_ns); }

template <std::size_t Buckets>
wait_times make_wait_times(std::uint64_t total_ns, const std::uint64_t (&buckets)[Buckets]) {
  wait_times made;
  made.total_ns = total_ns;
  for (unsigned bucket = 0; bucket != Buckets; ++bucket) made.durations.add_bucket(bucket, buckets[bucket]);
  return made;
}

device_usage make_usage(const device_entry& entry, const device_sums& sums, std::uint64_t epoch) {
  device_usage made;
  made.kind = to_kind(entry.kind);
  made.index = entry.index;
  made.name = entry.name;
  const std::uint64_t busy = sums.busy.total_ns;
  const std::uint64_t kernels = bounded_sum(sums.kernels, busy);
  made.busy_ns = busy;
  made.kernel_ns = kernels;
  made.copy_ns = bounded_sum(sums.copies, busy);
  made.exposed_copy_ns = std::max(kernels, bounded_sum(sums.kernels_and_copies, busy)) - kernels;
  made.launch_idle_ns = sums.launch_idle_ns;
  if (sums.unplaced == 0) made.host_waiting_ns = std::min(busy, sums.host_waiting_ns);
  made.work_ns = sums.work_ns;
  made.operations = sums.operations;
  made.queues = static_cast<std::uint32_t>(sums.queue_count);
  wait_times waits = make_wait_times(sums.queue_wait_ns, sums.queue_waits);
  if (waits.durations.count() != 0) {  // else all operations were offloads, for which the host waited
    made.queue_wait = std::move(waits);
    made.launch_latency = make_wait_times(sums.launch_latency_ns, sums.launch_latencies);
  }
  const detail::clock_account& clock = entry.clocks[entry.clock_changes % 2];
  if (entry.clock_epoch == epoch && clock.sync_points != 0)
    made.clock = {to_clock(clock.id), clock.sync_points, clock.offset_ns, clock.drift_ppm, clock.residual_ns};
  made.late = sums.late;
  return made;
}

// From the begin of the observation to the first submission; 0: none. The numbers may be of another process.
std::uint64_t find_unused(std::uint64_t first_ns, std::uint64_t begin_ns, std::uint64_t starved_ns) {
  if (first_ns == 0) return starved_ns;
  return first_ns > begin_ns ? std::min(first_ns - begin_ns, starved_ns) : 0;
}

void add(std::optional<amount>& value, double sum, std::uint64_t time_ns) {
  if (!value) value.emplace();
  value->sum += sum;
  value->time_ns += time_ns;
}

}  // namespace

unsigned usable_cpus() {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

device_list read_devices(const process_state& state, std::uint64_t now_ns, std::uint64_t observed_ns,
                         std::uint64_t cpu_busy_ns) {
  device_list list;
  device_usage cpu;
  cpu.kind = device_kind::cpu;
  cpu.name = "host";
  cpu.observed_ns = observed_ns;
  cpu.busy_ns = std::min(observed_ns, cpu_busy_ns);
  list.devices.push_back(cpu);
  list.index.push_back(0);
  list.offload.observed_ns = observed_ns;
  if (state.address == 0) return list;

  const std::uint64_t now_of_process_ns = to_process_clock(now_ns, state.clock_lead_ns);
  std::uint64_t epoch = 0;
  if (!state.in->read(state.address + offsetof(detail::store_head, epoch), epoch)) return list;
  const device_activity activity = read_device_activity(state, epoch, now_of_process_ns);
  for (const device_entry& entry : activity.devices) {
    static const device_sums nothing{};
    const std::size_t at = list.index.size() - 1;
    const bool is_known = activity.sums != nullptr && at < activity.sums->device_count;
    const device_sums& sums = is_known ? activity.sums->devices[at] : nothing;
    device_usage usage = make_usage(entry, sums, epoch);
    usage.observed_ns = observed_ns;
    usage.unused_ns = find_unused(sums.first_ns, now_of_process_ns - observed_ns, usage.starved_ns().value_or(0));
    usage.skipped = activity.skipped;
    list.index.push_back(static_cast<std::uint32_t>(list.devices.size()));
    list.devices.push_back(std::move(usage));
  }
  const detail::activity_sums* const sums = activity.sums.get();
  if (sums != nullptr && sums->waits != 0) list.offload.waited_ns = std::min(observed_ns, sums->waited_ns);
  if (list.devices.size() > 1 && (sums == nullptr || sums->unplaced == 0))
    list.offload.busy_ns = sums != nullptr ? sums->busy.total_ns : 0;
  return list;
}

std::optional<device> device_named(const process_state& state, std::uint32_t number) {
  const std::optional<device_entry> entry = read_device(state, number);
  if (!entry) return std::nullopt;
  return device(to_kind(entry->kind), entry->index, entry->name);
}

void add_amounts(std::vector<device_usage>& usages, const std::vector<region>& from) {
  const auto attribute_sum = [](const region& row, const char* name) {
    const auto found = row.attributes.find(name);
    return found != row.attributes.end() ? found->second.sum : 0;
  };
  for (const region& row : from) {
    if (row.device >= usages.size()) continue;
    device_usage& on = usages[row.device];
    if (row.kind == region_kind::copy_to && attribute_sum(row, "bytes") > 0)
      add(on.to_device, attribute_sum(row, "bytes"), row.total_ns);
    if (row.kind == region_kind::copy_from && attribute_sum(row, "bytes") > 0)
      add(on.from_device, attribute_sum(row, "bytes"), row.total_ns);
    if ((row.kind == region_kind::kernel || row.kind == region_kind::offload) && attribute_sum(row, "flops") > 0)
      add(on.flops, attribute_sum(row, "flops"), 0);
  }
  for (device_usage& on : usages)
    if (on.flops) on.flops->time_ns = on.kernel_ns.value_or(0);
}

}  // namespace adaptyst::lib
