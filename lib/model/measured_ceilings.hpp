// What a machine can do at most, with how it was measured and how sure that is: docs/ceilings.md. Pure.
#ifndef ADAPTYST_LIB_MODEL_MEASURED_CEILINGS_HPP
#define ADAPTYST_LIB_MODEL_MEASURED_CEILINGS_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace adaptyst::lib {

// A rate in 10^9 a second, over the repetitions of a measurement. The best is the ceiling: what disturbs can but slow
// down.
struct repeated_rate {
  double best = 0, median = 0, worst = 0;
  std::size_t count = 0;

  // By what part of the best the worst was less.
  double spread() const { return best > 0 ? 1 - worst / best : 0; }
  // Whether half of the repetitions were more than a tenth slower than the best.
  bool is_disturbed() const { return median < 0.9 * best; }
};

// Of none: all 0.
repeated_rate summarise(std::vector<double> rates);

struct ceiling_rates {
  repeated_rate gbytes, double_gflops, single_gflops;
  std::uint64_t array_bytes = 0;  // of each of the triad's three arrays
};

struct measured_ceilings {
  std::string host, cpu, measured;  // as in machine_ceilings
  std::uint32_t cpus = 0;
  std::string instructions;       // with which the operations were done: "avx2", "neon"
  std::uint64_t cache_bytes = 0;  // of all last-level caches; 0: not known
  double seconds = 0;             // that measuring took
  ceiling_rates one, all;         // of one thread; of one on each CPU

  bool is_disturbed() const;
};

machine_ceilings choose(const measured_ceilings& from, flop_precision precision);

}  // namespace adaptyst::lib

#endif
