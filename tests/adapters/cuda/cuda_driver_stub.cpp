// A stub of the CUDA driver, not NVIDIA's: knows what two devices are called.
#include <cstdio>

#define STUB extern "C" __attribute__((visibility("default")))

STUB int cuDeviceGetCount(int* count) { return *count = 2, 0; }
STUB int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "stub of a GPU with a very long name");
  return 0;
}
STUB int cuDeviceGetPCIBusId(char* place, int bytes, int device) {
  std::snprintf(place, static_cast<std::size_t>(bytes), "0000:%02X:00.0", static_cast<unsigned>(device) + 0x1B);
  return 0;
}
