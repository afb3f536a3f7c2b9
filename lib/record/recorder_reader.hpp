// Reads the recorders of this process while their threads write them.
#ifndef ADAPTYST_LIB_RECORD_RECORDER_READER_HPP
#define ADAPTYST_LIB_RECORD_RECORDER_READER_HPP

#include <adaptyst/detail/process.hpp>

#include "../profile/measured.hpp"

namespace adaptyst::lib {

// All rows and the account of the current epoch. Each recorder's account is of one moment; rows are read one by one, so
// beside running threads their sum may be some events ahead of it.
measured read_recorders(detail::process& in);

// How many processors this thread may use.
unsigned usable_cpus();

// The devices of the process, the CPU first, and where each number of the process stands among them. `observed_ns` is
// how long was looked; `cpu_busy_ns` the CPU time that the process used meanwhile, for each processor that it may use.
struct device_list {
  std::vector<device_usage> devices;
  std::vector<std::uint32_t> index;
};
device_list read_devices(detail::process& in, std::uint64_t observed_ns, std::uint64_t cpu_busy_ns);

// Forgets what devices did for an earlier collector.
void reset_devices(detail::process& in);

}  // namespace adaptyst::lib

#endif
