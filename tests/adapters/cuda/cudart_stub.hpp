// What the stub of the CUDA runtime lets a test do.
#ifndef ADAPTYST_TESTS_ADAPTERS_CUDA_CUDART_STUB_HPP
#define ADAPTYST_TESTS_ADAPTERS_CUDA_CUDART_STUB_HPP

#include <cuda_runtime_api.h>

#include <cstdint>

namespace cudart_stub {

// A kernel of that length, as the device counts its time, at the end of the stream.
void launch(cudaStream_t in, std::uint64_t ns);
void use_device(int ordinal);
// Nothing that was recorded is ready from now on, or no longer.
void hold_devices(bool held);
// Every call that asks something of a device fails from now on, or no longer.
void lose_devices(bool lost);
void capture(cudaStream_t in, bool on);
void set_last_error(cudaError_t error);
// Calls of the runtime so far.
std::uint64_t calls();

constexpr double drift = 200e-6;  // the device's clock is faster by this
constexpr double resolution_ns = 500;

}  // namespace cudart_stub

#endif
