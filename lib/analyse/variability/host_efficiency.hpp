// Host efficiencies by the POP methodology and TALP: losses because another thread had more work outside MPI, because
// all threads were in MPI, and because threads served devices or waited for them.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_HOST_EFFICIENCY_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_HOST_EFFICIENCY_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include "../../model/efficiency.hpp"
#include "../../model/traced_event.hpp"
#include "device_efficiency.hpp"

namespace adaptyst::lib {

// For H threads in a time T, where thread i is outside MPI for O_i. U_i is the part of O_i without waits, calls of a
// device's library and system calls:
//
//   parallel           ΣU / (H T)              = mpi_load_balance x mpi_communication x device_offload
//   mpi_load_balance   (ΣO / H) / max O
//   mpi_communication  max O / T
//   device_offload     ΣU / ΣO
//
// Each is in [0, 1]. Empty: all threads were in MPI all the time. A trace does not show what a thread did between
// calls, or whether it had a core. All time that may be useful counts, so `parallel` is an upper bound. It must not be
// multiplied with that of devices. Source: TALP (DLB's perf_metrics.c).
struct host_efficiency {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t threads = 0;
  using factors = host_factors;
  std::optional<factors> of;
};

struct host_efficiencies {
  host_efficiency whole;
  std::vector<host_efficiency> windows;
};

// For one thread; calls are in any order and may be nested.
struct host_thread_calls {
  std::vector<time_span> mpi, other;
};

// For the same times as the devices.
host_efficiencies find_host_efficiencies(std::vector<host_thread_calls> threads, const device_efficiencies& times);

}  // namespace adaptyst::lib

#endif
