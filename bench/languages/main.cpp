// What regions of C and Fortran cost, asleep and awake, against those of C++ and of each other.
#include <adaptyst/collector.hpp>
#include <adaptyst/region.hpp>
#include <cstdio>

#include "../measure.hpp"
#include "of_c.h"

namespace {

using step = void (*)();

[[gnu::noinline]] void cpp_scope() {
  ADAPTYST_REGION("scope of C++");
  bench_c_work();
  __asm__ volatile("");
}

// What a call of `with` takes more than one of `without`.
double over(step with, step without, std::uint64_t times, int rounds) {
  std::vector<double> difference;
  for (int round = 0; round != rounds; ++round) {
    const double longer = bench::step_ns(times, with);
    difference.push_back(longer - bench::step_ns(times, without));
  }
  return bench::median(difference);
}

}  // namespace

int main() {
  bench::measurements figures;
  const auto idle = [](step with, step without) { return std::max(0.0, over(with, without, 20'000'000, 15)); };
  figures["c_idle_region_ns"] = idle(bench_c_scope, bench_c_nothing);
  figures["c_idle_pair_ns"] = idle(bench_c_pair, bench_c_nothing);
#ifdef ADAPTYST_BENCH_FORTRAN
  figures["fortran_idle_region_ns"] = idle(bench_fortran_region, bench_fortran_nothing);
  figures["fortran_idle_named_region_ns"] = idle(bench_fortran_named, bench_fortran_nothing);
#endif
  const adaptyst::collector collector("engine=inline,overhead=none,report=none");
  const auto enabled = [](step first, step second) { return over(first, second, 500'000, 25); };
  figures["c_region_over_cpp_ns"] = enabled(bench_c_scope, cpp_scope);
  figures["c_pair_over_region_ns"] = enabled(bench_c_pair, bench_c_scope);
#ifdef ADAPTYST_BENCH_FORTRAN
  figures["fortran_region_over_c_ns"] = enabled(bench_fortran_region, bench_c_scope);
  figures["fortran_region_over_c_pair_ns"] = enabled(bench_fortran_region, bench_c_pair);
  figures["fortran_named_region_over_c_ns"] = enabled(bench_fortran_named, bench_c_scope);
#endif
  for (const auto& [key, value] : figures) std::printf("%s %.6g\n", key.c_str(), value);
}
