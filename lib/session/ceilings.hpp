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

}  // namespace adaptyst::lib

#endif
