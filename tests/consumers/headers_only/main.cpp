// Markers without payload: no library, no Boost.PFR.
#include <adaptyst/metric.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/region.hpp>

int main() {
  const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "none"};
  ADAPTYST_REGION("outside");
  ADAPTYST_OFFLOAD("offloaded", gpu);
  ADAPTYST_METRIC("residual", 0.5);
}

#if defined(FMT_VERSION) || defined(__LIBBPF_LIBBPF_H) || defined(BOOST_PFR_CORE_HPP)
#error "the markers bring in what they must not"
#endif
