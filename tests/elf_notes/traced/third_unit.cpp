#include "units.hpp"

void third_unit() {
  ADAPTYST_REGION("third unit");
  in_all_units();
  { ADAPTYST_OFFLOAD("offload", traced_gpu); }
  // In the future, so that it cannot have started before it was submitted.
  adaptyst::submit("kernel", traced_gpu, 0, adaptyst::operation_kind::kernel)
      .complete(adaptyst::now_ns() + 1'000'000, adaptyst::now_ns() + 2'000'000);
}
