#include "device_reader.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>

namespace adaptyst::lib {

namespace {

using detail::device_entry;

const char* kind_name(std::uint32_t kind) {
  constexpr const char* names[] = {"cpu", "gpu", "fpga", "accelerator", "other"};
  return kind < std::size(names) ? names[kind] : "other";
}

// A copy of one moment; after too many tries, of about one.
bool read_entry(const process_state& of, std::uint64_t address, device_entry& to) {
  bool locked = false;
  if (of.in == &own_memory())
    detail::with_device(*reinterpret_cast<device_entry*>(address), [&](const device_entry& entry) {
      to = entry;
      locked = true;
    });
  if (locked) return true;
  for (unsigned attempt = 0; attempt != of.in->patience(); ++attempt) {
    device_entry again;
    if (!of.in->read(address, to) || !of.in->read(address, again)) return false;
    if (to.lock == 0 &&
        std::equal(reinterpret_cast<const unsigned char*>(&to), reinterpret_cast<const unsigned char*>(&to + 1),
                   reinterpret_cast<const unsigned char*>(&again)))
      break;
  }
  for (device_entry::intervals* one : {&to.busy, &to.kernels, &to.kernels_and_copies, &to.copies})
    one->count = std::min(one->count, static_cast<std::uint32_t>(std::size(one->open)));
  to.name[sizeof to.name - 1] = '\0';
  return true;
}

}  // namespace

unsigned usable_cpus() {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

device_list read_devices(const process_state& of, std::uint64_t observed_ns, std::uint64_t cpu_busy_ns) {
  device_list list;
  device_usage cpu;
  cpu.kind = "cpu";
  cpu.name = "host";
  cpu.observed_ns = observed_ns;
  cpu.busy_ns = std::min(observed_ns, cpu_busy_ns);
  list.devices.push_back(cpu);
  list.index.push_back(0);
  if (of.address == 0) return list;
  for (std::uint32_t at = 0; at != detail::most_devices; ++at) {
    device_entry entry;
    if (!read_entry(of, of.address + offsetof(detail::process, devices) + at * sizeof entry, entry) || entry.state != 2)
      break;
    device_usage usage;
    usage.kind = kind_name(entry.kind);
    usage.index = entry.index;
    usage.name = entry.name;
    usage.observed_ns = observed_ns;
    // What came too late for one union may have come in time for another, so each is held against the whole.
    const std::uint64_t busy = entry.busy.total_ns();
    const std::uint64_t kernel = std::min(busy, entry.kernels.total_ns());
    const std::uint64_t copy = std::min(busy, entry.copies.total_ns());
    const std::uint64_t both = entry.kernels_and_copies.total_ns();
    usage.busy_ns = busy;
    usage.kernel_ns = kernel;
    usage.copy_ns = copy;
    usage.exposed_copy_ns = std::min(copy, both - std::min(both, kernel));
    usage.queue_wait_ns = entry.queue_wait_ns;
    usage.late = entry.busy.late;
    usage.skipped = entry.skipped;
    list.index.push_back(static_cast<std::uint32_t>(list.devices.size()));
    list.devices.push_back(std::move(usage));
  }
  return list;
}

void reset_devices(detail::process& in) {
  for (device_entry& entry : in.devices) {
    detail::with_device(entry, [](device_entry& locked) {
      locked.busy = locked.kernels = locked.kernels_and_copies = locked.copies = {};
      locked.queue_wait_ns = 0;
    });
    detail::store(entry.skipped, 0);
  }
}

}  // namespace adaptyst::lib
