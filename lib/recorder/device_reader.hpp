// Reads the work of a process's devices.
#ifndef ADAPTYST_LIB_RECORDER_DEVICE_READER_HPP
#define ADAPTYST_LIB_RECORDER_DEVICE_READER_HPP

#include <adaptyst/detail/process.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

// The number of processors that this thread may use.
unsigned usable_cpus();

// The devices of the process, the CPU first; the position of each of the process's device numbers in that list; and the
// overlap of devices and host.
struct device_list {
  std::vector<device_usage> devices;
  std::vector<std::uint32_t> index;
  offload_usage offload;
};

// `now_ns`: CLOCK_MONOTONIC, the end of open waits. `observed_ns`: duration of the observation. `cpu_busy_ns`: CPU time
// of the process during the observation, for each processor that it may use.
device_list read_devices(const process_state& state, std::uint64_t now_ns, std::uint64_t observed_ns,
                         std::uint64_t cpu_busy_ns);

// A device of the process, by its number there.
std::optional<device> device_named(const process_state& state, std::uint32_t number);

// Gives devices the bytes and operations in the payloads of their regions.
void add_amounts(std::vector<device_usage>& usages, const std::vector<region>& from);

// The process's device activity buffer, read while its threads write it. A copy is swept for the remaining entries.
struct device_activity {
  std::vector<detail::device_entry> devices;    // in the order of their numbers
  std::unique_ptr<detail::activity_sums> sums;  // null: nothing has been booked
  std::uint64_t skipped = 0;                    // entries that could not be booked
};

// Everything that has been booked for the collector of this epoch, up to now.
device_activity read_device_activity(const process_state& state, std::uint64_t epoch, std::uint64_t now_ns);

// A device of the process, by its number there, with a terminated name.
std::optional<detail::device_entry> read_device(const process_state& state, std::uint32_t number);

}  // namespace adaptyst::lib

#endif
