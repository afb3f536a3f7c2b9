#include "units.hpp"

void third_unit() {
  ADAPTYST_REGION("third unit");
  in_all_units();
  { ADAPTYST_OFFLOAD("offload", traced_gpu); }
  // Far in the future, so that it cannot have started before it was submitted.
  adaptyst::submit("kernel", traced_gpu, 0, adaptyst::operation_kind::kernel).complete(~0ULL - 1, ~0ULL);
}
