// Reads what the devices of a process did.
#ifndef ADAPTYST_LIB_RECORD_DEVICE_READER_HPP
#define ADAPTYST_LIB_RECORD_DEVICE_READER_HPP

#include <adaptyst/detail/process.hpp>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

// How many processors this thread may use.
unsigned usable_cpus();

// The devices of the process, the CPU first, and where each number of the process stands among them. `observed_ns` is
// how long was looked; `cpu_busy_ns` the CPU time that the process used meanwhile, for each processor that it may use.
struct device_list {
  std::vector<device_usage> devices;
  std::vector<std::uint32_t> index;
};
device_list read_devices(const process_state& of, std::uint64_t observed_ns, std::uint64_t cpu_busy_ns);

// Forgets what devices did for an earlier collector.
void reset_devices(detail::process& in);

}  // namespace adaptyst::lib

#endif
