// What a marker costs while nothing listens.
#include <adaptyst/region.hpp>

#include "measure.hpp"

// Two functions that differ in a marker: their symbols' sizes are compared as well.
extern "C" {
[[gnu::noinline]] void bench_work() { __asm__ volatile(""); }
[[gnu::noinline]] void bench_with_region() {
  ADAPTYST_REGION("idle");
  bench_work();
  __asm__ volatile("");  // in both: a call, and no jump, at the end
}
[[gnu::noinline]] void bench_without_region() {
  bench_work();
  __asm__ volatile("");
}
}

namespace bench {

void idle(measurements& results) {
  constexpr std::uint64_t times = 20'000'000;
  std::vector<double> difference;
  for (int round = 0; round != 15; ++round) {
    const double with = step_ns(times, bench_with_region);
    difference.push_back(with - step_ns(times, bench_without_region));
  }
  results["idle_region_ns"] = std::max(0.0, median(difference));
}

int only_idle_steps(bool with_marker, std::uint64_t times) {
  for (std::uint64_t at = 0; at != times; ++at) {
    if (with_marker) bench_with_region();
    else bench_without_region();
  }
  return 0;
}

}  // namespace bench
