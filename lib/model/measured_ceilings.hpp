// The maximum rates of a machine, with the method and the uncertainty of the measurement: docs/ceilings.md. Pure.
#ifndef ADAPTYST_LIB_MODEL_MEASURED_CEILINGS_HPP
#define ADAPTYST_LIB_MODEL_MEASURED_CEILINGS_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace adaptyst::lib {

// A rate in 10^9 per second, over the repetitions of a measurement. The best one is the ceiling, because disturbances
// can only slow down.
struct repeated_rate {
  double best = 0, median = 0, worst = 0;
  std::size_t count = 0;

  // The relative difference of the worst to the best.
  double spread() const { return best > 0 ? 1 - worst / best : 0; }
  // Whether half of the repetitions were more than a tenth slower than the best.
  bool is_disturbed() const { return median < 0.9 * best; }
};

// Without rates: all 0.
repeated_rate summarise(std::vector<double> rates);

struct ceiling_rates {
  repeated_rate gbytes, double_gflops, single_gflops;
  std::uint64_t array_bytes = 0;  // of each of the triad's three arrays
};

struct measured_ceilings {
  std::string host, cpu, measured;  // as in machine_ceilings
  std::uint32_t cpus = 0;
  std::string instructions;       // the instruction set of the operations: "avx2", "neon"
  std::uint64_t cache_bytes = 0;  // of all last-level caches; 0: unknown
  double seconds = 0;             // duration of the measurement
  ceiling_rates one_thread, all;  // of a single thread; of one thread on each CPU

  bool is_disturbed() const;
};

machine_ceilings choose(const measured_ceilings& from, flop_precision precision);

}  // namespace adaptyst::lib

#endif
