#include "device_reader.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>

namespace adaptyst::lib {

namespace {

using detail::device_entry;
using detail::device_ledger;
using detail::device_sums;
using detail::interval_union;

constexpr std::size_t head_bytes = offsetof(device_ledger, devices);

// Both are numbers in another process.
device_kind kind_of(std::uint32_t kind) {
  return kind < static_cast<std::uint32_t>(device_kind::other) ? static_cast<device_kind>(kind) : device_kind::other;
}

clock_id clock_of(std::uint32_t id) {
  return id <= static_cast<std::uint32_t>(clock_id::device) ? static_cast<clock_id>(id) : clock_id::unknown;
}

// All that is in use.
bool copy(const memory& from, std::uint64_t address, device_ledger& to) {
  if (!from.read(address, &to, head_bytes)) return false;
  for (std::size_t at = 0; at != detail::most_devices; ++at) {
    device_entry& entry = to.devices[at];
    const std::uint64_t there = address + head_bytes + at * sizeof entry;
    if (!from.read(there, &entry, offsetof(device_entry, sums))) return false;
    if (entry.state != 2) break;
    if (!from.read(there, entry)) return false;
  }
  return true;
}

// Whatever has been read from another process must not lead astray.
void make_safe(device_ledger& in) {
  in.first %= device_ledger::window;
  in.count = std::min(in.count, device_ledger::window);
  for (detail::ledger_entry& one : in.entries) {
    const bool is_wait = one.work == detail::device_work::wait_begin || one.work == detail::device_work::wait_end;
    if (!is_wait && (one.device == 0 || one.device > detail::most_devices))
      one = {one.begin_ns, one.begin_ns, 0, 0, 0, detail::device_work::wait_end};
    one.end_ns = std::max(one.begin_ns, one.end_ns);
    one.submitted_ns = std::min(one.begin_ns, one.submitted_ns);
  }
  for (device_entry& entry : in.devices) {
    entry.name[sizeof entry.name - 1] = '\0';
    entry.sums.queue_count = std::min<std::uint64_t>(entry.sums.queue_count, detail::most_queues);
  }
}

// A copy of one moment; after too many tries, of about one.
bool read_ledger(const process_state& of, std::uint64_t address, std::uint64_t epoch, device_ledger& to) {
  bool copied = false;
  if (of.in == &own_memory())
    detail::with_ledger(*reinterpret_cast<device_ledger*>(address), epoch,
                        [&](const device_ledger&) { copied = copy(*of.in, address, to); });
  for (unsigned attempt = 0; !copied && attempt != of.in->patience(); ++attempt) {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    const std::uint64_t sequence = address + offsetof(device_ledger, sequence);
    if (!of.in->read(sequence, before) || !copy(*of.in, address, to) || !of.in->read(sequence, after)) return false;
    if (before == after && before % 2 == 0) break;
  }
  make_safe(to);
  return true;
}

std::uint64_t sum_of(const interval_union& all, std::uint64_t most) { return std::min(all.total_ns, most); }

template <std::size_t Buckets>
latencies latencies_of(std::uint64_t total_ns, const std::uint64_t (&buckets)[Buckets]) {
  latencies made;
  made.total_ns = total_ns;
  for (unsigned bucket = 0; bucket != Buckets; ++bucket) made.durations.add_bucket(bucket, buckets[bucket]);
  return made;
}

device_usage usage_of(const device_entry& entry) {
  device_usage made;
  made.kind = kind_of(entry.kind);
  made.index = entry.index;
  made.name = entry.name;
  const device_sums& sums = entry.sums;
  const std::uint64_t busy = sums.busy.total_ns;
  const std::uint64_t kernels = sum_of(sums.kernels, busy);
  made.busy_ns = busy;
  made.kernel_ns = kernels;
  made.copy_ns = sum_of(sums.copies, busy);
  made.exposed_copy_ns = std::max(kernels, sum_of(sums.kernels_and_copies, busy)) - kernels;
  made.launch_idle_ns = sums.launch_idle_ns;
  if (sums.unplaced == 0) made.awaited_ns = std::min(busy, sums.awaited_ns);
  made.work_ns = sums.work_ns;
  made.operations = sums.operations;
  made.queues = static_cast<std::uint32_t>(sums.queue_count);
  latencies waits = latencies_of(sums.queue_wait_ns, sums.queue_waits);
  if (waits.durations.count() != 0) {  // otherwise all of it was offloads, for which the host waited
    made.queue_wait = std::move(waits);
    made.launch_latency = latencies_of(sums.launch_latency_ns, sums.launch_latencies);
  }
  const detail::clock_account& clock = sums.clock;
  if (clock.sync_points != 0)
    made.clock = {clock_of(clock.id), clock.sync_points, clock.offset_ns, clock.drift_ppm, clock.residual_ns};
  made.late = sums.late;
  return made;
}

void add(std::optional<amount>& to, double sum, std::uint64_t time_ns) {
  if (!to) to.emplace();
  to->sum += sum;
  to->time_ns += time_ns;
}

}  // namespace

unsigned usable_cpus() {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

device_list read_devices(const process_state& of, std::uint64_t now_ns, std::uint64_t observed_ns,
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
  if (of.address == 0) return list;

  const std::uint64_t address = of.address + offsetof(detail::recorder_store, ledger);
  device_entry first{};
  std::uint64_t epoch = 0;
  std::uint64_t waits = 0;
  std::uint64_t first_and_count = 0;
  if (!of.in->read(address + head_bytes, &first, offsetof(device_entry, sums)) ||
      !of.in->read(address + offsetof(device_ledger, waits), waits) ||
      !of.in->read(address + offsetof(device_ledger, first), first_and_count) ||
      !of.in->read(of.address + offsetof(detail::store_head, epoch), epoch))
    return list;
  // Most programs have no devices, and need no copy of what they would have done.
  if (first.state != 2 && waits == 0 && first_and_count == 0) return list;
  const auto ledger = std::make_unique<device_ledger>();
  if (!read_ledger(of, address, epoch, *ledger)) return list;
  if (ledger->epoch != epoch) ledger->begin(epoch);  // of an earlier collector
  ledger->settle(now_ns);
  for (const device_entry& entry : ledger->devices) {
    if (entry.state != 2) break;
    device_usage usage = usage_of(entry);
    usage.observed_ns = observed_ns;
    usage.skipped = ledger->skipped;
    list.index.push_back(static_cast<std::uint32_t>(list.devices.size()));
    list.devices.push_back(std::move(usage));
  }
  if (ledger->waits != 0) list.offload.waited_ns = std::min(observed_ns, ledger->waited_ns);
  if (list.devices.size() > 1 && ledger->unplaced == 0) list.offload.busy_ns = ledger->busy.total_ns;
  return list;
}

std::optional<device> device_named(const process_state& of, std::uint32_t number) {
  device_entry entry{};
  const std::uint64_t first = of.address + offsetof(detail::recorder_store, ledger) + head_bytes;
  if (number == 0 || number > detail::most_devices ||
      !of.in->read(first + (number - 1) * sizeof entry, &entry, offsetof(device_entry, sums)))
    return std::nullopt;
  entry.name[sizeof entry.name - 1] = '\0';
  return device(kind_of(entry.kind), entry.index, entry.name);
}

void add_amounts(std::vector<device_usage>& to, const std::vector<region>& from) {
  const auto sum_of = [](const region& row, const char* name) {
    const auto found = row.attributes.find(name);
    return found != row.attributes.end() ? found->second.sum : 0;
  };
  for (const region& row : from) {
    if (row.device >= to.size()) continue;
    device_usage& on = to[row.device];
    if (row.kind == region_kind::copy_to && sum_of(row, "bytes") > 0)
      add(on.to_device, sum_of(row, "bytes"), row.total_ns);
    if (row.kind == region_kind::copy_from && sum_of(row, "bytes") > 0)
      add(on.from_device, sum_of(row, "bytes"), row.total_ns);
    if ((row.kind == region_kind::kernel || row.kind == region_kind::offload) && sum_of(row, "flops") > 0)
      add(on.flops, sum_of(row, "flops"), 0);
  }
  for (device_usage& on : to)
    if (on.flops) on.flops->time_ns = on.kernel_ns.value_or(0);
}

}  // namespace adaptyst::lib
