// A program of Kokkos's, with a marker of ours in it.
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ProfileSection.hpp>
#include <adaptyst/region.hpp>

#include <cstdio>

namespace app {
struct sweep {
  Kokkos::View<double*> of;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const { of(i) = i; }
};
}  // namespace app

int main(int count, char** arguments) {
  Kokkos::initialize(count, arguments);
  {
    constexpr int cells = 1000, steps = 10;
    Kokkos::Profiling::pushRegion("setup");
    const Kokkos::View<double*> from("from", cells);
    const Kokkos::View<double*> to("to", cells);
    Kokkos::Profiling::popRegion();
    Kokkos::Profiling::ProfilingSection section("steps");
    section.start();
    double sum = 0;
    for (int step = 0; step != steps; ++step) {
      ADAPTYST_REGION("step");
      Kokkos::parallel_for(
          "fill", cells, KOKKOS_LAMBDA(int i) { from(i) = i; });
      Kokkos::parallel_for(cells, app::sweep{from});
      Kokkos::deep_copy(to, from);
      Kokkos::parallel_reduce(
          "sum", cells, KOKKOS_LAMBDA(int i, double& add) { add += to(i); }, sum);
      Kokkos::fence();
    }
    section.stop();
    Kokkos::Profiling::markEvent("done");
    std::printf("%.0f\n", sum);
  }
  Kokkos::finalize();
}
