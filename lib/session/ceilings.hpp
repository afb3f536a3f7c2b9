// Measures the maximum rates of this machine: docs/ceilings.md.
#ifndef ADAPTYST_LIB_SESSION_CEILINGS_HPP
#define ADAPTYST_LIB_SESSION_CEILINGS_HPP

#include <cstddef>
#include <cstdint>

#include "../model/measured_ceilings.hpp"

namespace adaptyst::lib {

struct ceiling_settings {
  std::size_t max_repetitions = 10, min_repetitions = 3;
  double max_seconds = 0.6;           // of one measurement, after min_repetitions
  double max_seconds_together = 6;    // then two repetitions are enough for a spread
  double seconds_of_kernel = 0.03;    // of one repetition of computation
  std::uint64_t max_array_bytes = 0;  // for tests; 0: no limit
};

// Uses all CPUs that this process may use, for 5 to 10 s. Throws error if memory is too small or a thread cannot be
// started.
measured_ceilings measure_ceilings(const ceiling_settings& how = {});

// Loops that only compute, or only move data, with the widest instructions of this processor.
struct peak_kernels {
  const char* instructions;  // "avx2"
  // Runs `steps` steps, each a multiplication and an addition of `…_per_step` / 2 numbers. `seeds`: 64 of them, from 0
  // to 0.5, so that no result leaves the usual range. The result prevents a compiler from removing the work.
  double (*multiply_add_double)(const double* seeds, std::uint64_t steps);
  double (*multiply_add_single)(const float* seeds, std::uint64_t steps);
  std::uint64_t double_flops_per_step, single_flops_per_step;
  // a[i] = b[i] + factor * c[i]
  void (*triad)(double* a, const double* b, const double* c, double factor, std::size_t count);
};

// All kernels that this processor can run, the widest last.
struct peak_kernel_list {
  const peak_kernels* first;
  std::size_t count;
};
peak_kernel_list list_peak_kernels();

}  // namespace adaptyst::lib

#endif
