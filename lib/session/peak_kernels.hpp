// Loops that only compute, or only move data, with the widest instructions of this processor.
#ifndef ADAPTYST_LIB_SESSION_PEAK_KERNELS_HPP
#define ADAPTYST_LIB_SESSION_PEAK_KERNELS_HPP

#include <cstddef>
#include <cstdint>

namespace adaptyst::lib {

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
