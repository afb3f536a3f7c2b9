// Measures what this machine can do at most: docs/ceilings.md.
#ifndef ADAPTYST_LIB_SESSION_CEILINGS_HPP
#define ADAPTYST_LIB_SESSION_CEILINGS_HPP

#include <cstddef>
#include <cstdint>

#include "../model/measured_ceilings.hpp"

namespace adaptyst::lib {

struct ceiling_settings {
  std::size_t max_repetitions = 10, min_repetitions = 3;
  double max_seconds = 0.6;           // of one measurement, after min_repetitions
  double max_seconds_together = 6;    // then two repetitions are enough, which have a spread
  double seconds_of_kernel = 0.03;    // of one repetition that computes
  std::uint64_t max_array_bytes = 0;  // for tests; 0: as many as it takes
};

// Keeps all CPUs busy that this process may use, for 5 to 10 s. Throws error where there is too little memory, or no thread
// can be started.
measured_ceilings measure_ceilings(const ceiling_settings& how = {});

}  // namespace adaptyst::lib

#endif
