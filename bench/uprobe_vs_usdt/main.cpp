// Uprobes against USDT probes against markers: adaptyst_bench_uprobe_vs_usdt [ROUNDS [SLICE_MS]]
// Prints its figures as lines "key value".
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "comparison.hpp"

namespace {

// On one processor, so that caches stay warm.
void stay_here() {
  cpu_set_t single_cpu;
  CPU_ZERO(&single_cpu);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &single_cpu);
  sched_setaffinity(0, sizeof single_cpu, &single_cpu);
}

}  // namespace

int main(int count, char* arguments[]) try {
  if (const std::optional<int> status = study::run_as_child(count, arguments)) return *status;
  const unsigned long rounds = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 15;
  const double slice_ms = count > 2 ? std::strtod(arguments[2], nullptr) : 60;
  cpu_set_t all_cpus;
  sched_getaffinity(0, sizeof all_cpus, &all_cpus);
  stay_here();
  study::comparison compared(study::make_methods());
  compared.run(static_cast<unsigned>(std::max(1UL, rounds)), slice_ms * 1e6);
  bench::measurements figures = compared.figures();
  sched_setaffinity(0, sizeof all_cpus, &all_cpus);
  figures.merge(study::run_experiments(static_cast<unsigned>(std::clamp(rounds, 1UL, 7UL)), slice_ms));
  for (const auto& [key, value] : figures) std::printf("%s %.6g\n", key.c_str(), value);
} catch (const std::exception& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
