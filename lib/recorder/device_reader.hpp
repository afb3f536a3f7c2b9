// Reads what the devices of a process did.
#ifndef ADAPTYST_LIB_RECORDER_DEVICE_READER_HPP
#define ADAPTYST_LIB_RECORDER_DEVICE_READER_HPP

#include <adaptyst/detail/process.hpp>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

// How many processors this thread may use.
unsigned usable_cpus();

// The devices of the process, the CPU first; where each number of the process stands among them; and how they and the
// host went together.
struct device_list {
  std::vector<device_usage> devices;
  std::vector<std::uint32_t> index;
  offload_usage offload;
};

// `now_ns`: CLOCK_MONOTONIC, as open waits last until then. `observed_ns`: how long the process has been observed.
// `cpu_busy_ns`: the CPU time that the process used meanwhile, for each processor that it may use.
device_list read_devices(const process_state& state, std::uint64_t now_ns, std::uint64_t observed_ns,
                         std::uint64_t cpu_busy_ns);

// A device of the process, by its number there.
std::optional<device> device_named(const process_state& state, std::uint32_t number);

// Gives devices the bytes and operations that the payloads of their regions tell of.
void add_amounts(std::vector<device_usage>& usages, const std::vector<region>& from);

}  // namespace adaptyst::lib

#endif
