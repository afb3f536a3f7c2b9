// Device efficiencies by the POP methodology and TALP: losses because another device had more work, because of copies,
// and because no work was submitted.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_DEVICE_EFFICIENCY_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_DEVICE_EFFICIENCY_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include "../../model/efficiency.hpp"
#include "parts.hpp"

namespace adaptyst::lib {

// For D devices in a time T, where U_d is the computing time of device d, and A_d its computing or copying time, each
// the union of its spans:
//
//   parallel       ΣU / (D T)              = load_balance x communication x orchestration
//   load_balance   (ΣU / D) / max U
//   communication  max U / max A
//   orchestration  max A / T
//
// Each is in [0, 1]. Empty: no device computed. Source: the gpu_* metrics of TALP (DLB's perf_metrics.c).
struct device_efficiency {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t devices = 0;
  using factors = device_factors;
  std::optional<factors> of;
};

struct device_efficiencies {
  device_efficiency whole;
  std::vector<device_efficiency> windows;  // windows with events; the first and last are cut to the trace
};

// `rows`: by window, one for each device. The trace is from `first_ns` to `last_ns`.
device_efficiencies find_device_efficiencies(const std::vector<window_row>& rows, const window_grid& grid,
                                             std::uint64_t first_ns, std::uint64_t last_ns);

}  // namespace adaptyst::lib

#endif
