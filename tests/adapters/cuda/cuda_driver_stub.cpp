// A stub of the CUDA driver, not NVIDIA's: has names of two devices. As in a real program, the driver is still starting
// when the adapter is loaded.
#include <atomic>
#include <cstdio>

#define STUB extern "C" __attribute__((visibility("default")))

namespace {
std::atomic<int> calls{0};
constexpr int calls_while_starting = 3;
}  // namespace

STUB bool cuda_driver_stub_started() { return calls > calls_while_starting; }
STUB int cuDeviceGetCount(int* count) {
  constexpr int not_initialized = 3;
  if (calls++ < calls_while_starting) return not_initialized;
  return *count = 2, 0;
}
STUB int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "stub of a GPU with a very long name");
  return 0;
}
STUB int cuDeviceGetPCIBusId(char* place, int bytes, int device) {
  std::snprintf(place, static_cast<std::size_t>(bytes), "0000:%02X:00.0", static_cast<unsigned>(device) + 0x1B);
  return 0;
}
