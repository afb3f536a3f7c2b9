// One body for several compiler targets; the program chooses its processor's target when it runs. Compiled separately,
// optimised in every build: see lib/CMakeLists.txt.
//
// A chain of dependent operations takes the latency of each. With enough chains at a time, the processor's units are
// all busy: 4 or 5 cycles by 2 units on x86-64, 4 by 4 on Arm. More chains than registers would be kept in memory.
#include "ceilings.hpp"

#include <array>

namespace adaptyst::lib {

namespace {

#if defined(__aarch64__)
constexpr std::size_t chains = 20;
#else
constexpr std::size_t chains = 12;
#endif

#define ADAPTYST_MULTIPLY_ADD(NAME, TARGET, REAL, BYTES)                                                  \
  TARGET double NAME(const REAL* seeds, std::uint64_t steps) {                                            \
    typedef REAL lanes __attribute__((vector_size(BYTES)));                                               \
    const lanes factor = lanes{} + seeds[62], summand = lanes{} + seeds[63];                              \
    lanes sums[chains];                                                                                   \
    for (std::size_t chain = 0; chain != chains; ++chain) sums[chain] = lanes{} + seeds[chain];           \
    for (std::uint64_t step = 0; step != steps; ++step)                                                   \
      for (std::size_t chain = 0; chain != chains; ++chain) sums[chain] = sums[chain] * factor + summand; \
    lanes sum{};                                                                                          \
    for (std::size_t chain = 0; chain != chains; ++chain) sum += sums[chain];                             \
    return static_cast<double>(sum[0]);                                                                   \
  }

#define ADAPTYST_TRIAD(NAME, TARGET)                                                                            \
  TARGET void NAME(double* __restrict a, const double* __restrict b, const double* __restrict c, double factor, \
                   std::size_t count) {                                                                         \
    for (std::size_t at = 0; at != count; ++at) a[at] = b[at] + factor * c[at];                                 \
  }

#define ADAPTYST_PEAK_KERNELS(NAME, TARGET, BYTES)                         \
  ADAPTYST_MULTIPLY_ADD(multiply_add_double_##NAME, TARGET, double, BYTES) \
  ADAPTYST_MULTIPLY_ADD(multiply_add_single_##NAME, TARGET, float, BYTES)  \
  ADAPTYST_TRIAD(triad_##NAME, TARGET)                                     \
  constexpr peak_kernels NAME##_kernels(const char* instructions) {        \
    return {instructions,                                                  \
            multiply_add_double_##NAME,                                    \
            multiply_add_single_##NAME,                                    \
            2 * chains * (BYTES) / sizeof(double),                         \
            2 * chains * (BYTES) / sizeof(float),                          \
            triad_##NAME};                                                 \
  }

ADAPTYST_PEAK_KERNELS(plain, , 16)
#if defined(__x86_64__)
ADAPTYST_PEAK_KERNELS(fma, __attribute__((target("avx2,fma"))), 32)
ADAPTYST_PEAK_KERNELS(wide, __attribute__((target("avx512f,fma"))), 64)
#endif

#undef ADAPTYST_PEAK_KERNELS
#undef ADAPTYST_TRIAD
#undef ADAPTYST_MULTIPLY_ADD

#if defined(__x86_64__)
constexpr std::array all = {plain_kernels("sse2"), fma_kernels("avx2 fma"), wide_kernels("avx512f")};
#elif defined(__aarch64__)
constexpr std::array all = {plain_kernels("neon")};
#else
constexpr std::array all = {plain_kernels("the compiler's default")};
#endif

}  // namespace

peak_kernel_list list_peak_kernels() {
#if defined(__x86_64__)
  const bool has_fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool has_wide = has_fma && __builtin_cpu_supports("avx512f") != 0;
  return {all.data(), has_wide ? 3U : has_fma ? 2U : 1U};
#else
  return {all.data(), all.size()};
#endif
}

}  // namespace adaptyst::lib
