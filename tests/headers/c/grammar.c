/* Every marker of C, wherever it may stand: C99, and C++ from C++11 on. */
#include <adaptyst/adaptyst.h>

#include "unit.h"

static const adaptyst_device gpu = ADAPTYST_DEVICE(ADAPTYST_DEVICE_GPU, 0, "gpu");

static inline int inlined(int turns) {
  ADAPTYST_FUNCTION();
  int sum = 0;
  for (int at = 0; at < turns; ++at) {
    ADAPTYST_REGION(
        "one "
        "literal of two");
    ADAPTYST_REGION("another");
    if (at == 3) return sum;
    sum += at;
  }
  return sum;
}

static void phases(int turns) {
  ADAPTYST_PHASES("first phase");
  for (int at = 0; at < turns; ++at) {
    if (at == 0) ADAPTYST_NEXT("second phase");
    else ADAPTYST_NEXT("third phase");
  }
}

int grammar(const char* name, double value, long queue) {
  ADAPTYST_REGION_NAMED(name);
  ADAPTYST_OFFLOAD("offload", gpu);
  ADAPTYST_WAIT("wait");
  if (value > 0) ADAPTYST_BEGIN("pair");
  else ADAPTYST_BEGIN_NAMED(name);
  ADAPTYST_METRIC("of a double", value);
  ADAPTYST_METRIC("of an integer", 1);
  ADAPTYST_MARK("mark");
  ADAPTYST_END();
  adaptyst_handle handle = ADAPTYST_HANDLE_BEGIN("handle");
  adaptyst_end_handle(&handle);
  adaptyst_operation copy = ADAPTYST_SUBMIT_WORK(name, gpu, queue, ADAPTYST_COPY_TO, 100, 0.5);
  adaptyst_complete(&copy, 1, 2);
  adaptyst_operation kernel = ADAPTYST_SUBMIT("kernel", gpu, queue, ADAPTYST_KERNEL);
  adaptyst_abandon(&kernel, ADAPTYST_DEVICE_LOST);
  adaptyst_metadata("mesh", "512");
  phases(3);
  return inlined(2) == 1 && inlined(10) == 3;
}
