// How well threads of the host were used, as the POP methodology and TALP divide it: in what one did not compute because another
// one had more to do outside of MPI, because all were in MPI, and because they served devices or waited for them.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_HOST_EFFICIENCY_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_HOST_EFFICIENCY_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include "../../model/traced_event.hpp"
#include "device_efficiency.hpp"

namespace adaptyst::lib {

// Of H threads in a time T, of which thread i is outside of MPI for O_i, and of that neither waits nor is in calls of a
// device's library or of the system for U_i:
//   parallel           ΣU / (H T)              = mpi_load_balance x mpi_communication x device_offload
//   mpi_load_balance   (ΣO / H) / max O
//   mpi_communication  max O / T
//   device_offload     ΣU / ΣO
// Each is in [0, 1]. Nothing: all were in MPI all the time. A trace does not say what a thread did between its calls, and whether
// it had a core: all that may have been useful counts, so `parallel` is an upper bound. It must not be multiplied with that of
// devices. Source: TALP (DLB's perf_metrics.c).
struct host_efficiency {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t threads = 0;
  struct factors {
    double parallel = 0, mpi_load_balance = 0, mpi_communication = 0, device_offload = 0;
  };
  std::optional<factors> of;
};

struct host_efficiencies {
  host_efficiency whole;
  std::vector<host_efficiency> windows;
};

// Of one thread; in any order, and one in another.
struct host_thread_calls {
  std::vector<time_span> mpi, other;
};

// In the same times as devices.
host_efficiencies find_host_efficiencies(std::vector<host_thread_calls> threads, const device_efficiencies& times);

}  // namespace adaptyst::lib

#endif
