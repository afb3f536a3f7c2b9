// What a region that Kokkos pushes and pops costs through its adapter, while the process's recorder sums, and while
// nothing listens.
#include <adaptyst/collector.hpp>
#include <dlfcn.h>

#include <cstdio>

#include "../measure.hpp"

int main() {
  void* const library = dlopen(ADAPTYST_BENCH_KOKKOS, RTLD_NOW);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const auto push = reinterpret_cast<void (*)(const char*)>(dlsym(library, "kokkosp_push_profile_region"));
  const auto pop = reinterpret_cast<void (*)()>(dlsym(library, "kokkosp_pop_profile_region"));
  const auto region = [=] {
    push("a region of Kokkos");
    pop();
  };
  std::vector<double> idle;
  std::vector<double> enabled;
  for (unsigned round = 0; round != 25; ++round) {
    idle.push_back(bench::step_ns(200'000, region));
    adaptyst::collector collector("engine=inline,overhead=none,report=none");
    bench::step_ns(1000, region);
    enabled.push_back(bench::step_ns(200'000, region));
  }
  std::printf("kokkos_region_ns %.4g\nkokkos_idle_region_ns %.4g\n", bench::median(enabled), bench::median(idle));
}
