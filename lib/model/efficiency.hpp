// Efficiencies by the POP methodology and TALP, as products of factors in [0, 1]. device_efficiency.hpp and
// host_efficiency.hpp define them. Source: TALP (DLB's perf_metrics.c).
#ifndef ADAPTYST_LIB_MODEL_EFFICIENCY_HPP
#define ADAPTYST_LIB_MODEL_EFFICIENCY_HPP

#include <algorithm>
#include <cstdint>
#include <optional>

namespace adaptyst::lib {

struct device_factors {
  double parallel = 0, load_balance = 0, communication = 0, orchestration = 0;
};
// Times of devices in a span of time.
struct device_sums {
  std::uint64_t busy_ns = 0, max_busy_ns = 0, max_active_ns = 0;  // computing; computing or copying

  void add(std::uint64_t of_busy_ns, std::uint64_t of_active_ns) noexcept {
    busy_ns += of_busy_ns;
    max_busy_ns = std::max(max_busy_ns, of_busy_ns);
    max_active_ns = std::max(max_active_ns, of_active_ns);
  }
  // Empty: no device computed.
  std::optional<device_factors> find_factors(std::uint64_t devices, std::uint64_t time_ns) const noexcept {
    if (max_busy_ns == 0 || time_ns == 0) return std::nullopt;
    const auto time = static_cast<double>(time_ns), max_busy = static_cast<double>(max_busy_ns);
    const auto max_active = static_cast<double>(max_active_ns);
    const double mean = static_cast<double>(busy_ns) / static_cast<double>(devices);
    return device_factors{mean / time, mean / max_busy, max_busy / max_active, max_active / time};
  }
};

struct host_factors {
  double parallel = 0, mpi_load_balance = 0, mpi_communication = 0, device_offload = 0;
};
// Times of threads in a span of time.
struct host_sums {
  std::uint64_t outside_ns = 0, max_outside_ns = 0, useful_ns = 0;  // outside MPI

  void add(std::uint64_t of_outside_ns, std::uint64_t of_useful_ns) noexcept {
    outside_ns += of_outside_ns;
    max_outside_ns = std::max(max_outside_ns, of_outside_ns);
    useful_ns += of_useful_ns;
  }
  // Empty: all threads were in MPI all the time.
  std::optional<host_factors> find_factors(std::uint64_t threads, std::uint64_t time_ns) const noexcept {
    if (max_outside_ns == 0) return std::nullopt;
    const auto time = static_cast<double>(time_ns), count = static_cast<double>(threads);
    const auto outside = static_cast<double>(outside_ns), useful = static_cast<double>(useful_ns);
    const auto max_outside = static_cast<double>(max_outside_ns);
    return host_factors{useful / (count * time), outside / count / max_outside, max_outside / time, useful / outside};
  }
};

}  // namespace adaptyst::lib

#endif
