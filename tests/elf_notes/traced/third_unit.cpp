#include "units.hpp"

void third_unit() {
  ADAPTYST_REGION("third unit");
  in_all_units();
  { ADAPTYST_OFFLOAD("offload", traced_gpu); }
  auto kernel = adaptyst::submit("kernel", traced_gpu, 0, adaptyst::operation_kind::kernel);
  // In the future, so that it cannot have started before it was submitted.
  const auto started = adaptyst::now_ns() + 1'000'000;
  kernel.complete(started, started + 1'000'000);
}
