#define ADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

#include <vector>

namespace {

struct guarded {
  unsigned long long before = 0x5151515151515151;
  adaptyst::region_handle handle;
  adaptyst::operation operation;
  unsigned long long after = 0x5151515151515151;
};

const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "gpu"};

}  // namespace

// 0, if nothing was overwritten.
unsigned long long disabled_unit() {
  ADAPTYST_REGION("disabled");
  guarded guarded;
  guarded.handle = ADAPTYST_HANDLE_BEGIN("disabled");
  guarded.handle.end();
  guarded.operation = adaptyst::submit("disabled", gpu, 0, adaptyst::operation_kind::kernel);
  guarded.operation.complete(1, 2);
  std::vector<adaptyst::region_handle> several;
  for (int i = 0; i != 5; ++i) several.push_back(ADAPTYST_HANDLE_BEGIN("disabled"));
  for (adaptyst::region_handle& each : several) each.end();
  return guarded.before ^ guarded.after;
}
