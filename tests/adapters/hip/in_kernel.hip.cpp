// <adaptyst/hip.hpp> next to a kernel, compiled by hipcc for the device and for the host. Not run: that takes a device.
#include <hip/hip_runtime.h>

#include <adaptyst/hip.hpp>

__global__ void fill(double* values) { values[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

void launch(double* values, hipStream_t stream) {
  const auto t = adaptyst::hip::track("fill", stream, adaptyst::operation_kind::kernel, adaptyst::work{8 * 256});
  fill<<<1, 256, 0, stream>>>(values);
}
