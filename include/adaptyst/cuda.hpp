// Measures work on CUDA streams with events before and after it. For programs that link with the CUDA runtime.
//
//   adaptyst::cuda::tracked t = adaptyst::cuda::track("stencil", stream, adaptyst::operation_kind::kernel,
//                                                     adaptyst::work{bytes, flops});
//   stencil<<<grid, block, 0, stream>>>(…);
//   t.end();                            // or at the end of the scope
//   …
//   adaptyst::cuda::collect();          // before the profile is taken: records finished work
//
// The work belongs to the thread's open region at track(), and to the current device. No call waits for the
// device: later calls of track() on it, or collect(), record finished work. Only collect() may sleep, once, for 20 ms,
// to compare the device's clock twice.
//
// Cost when idle: a comparison, a branch and the arguments. When enabled: two events in the stream and some runtime
// calls, a few us (docs/cuda.md). Times have a resolution of about 0.5 us, and include device time before the first
// kernel. libadaptyst-cuda.so observes every kernel of an unchanged program, and more exactly.
//
// At most 4,096 tracked operations are in flight per device. Work beyond that, or in a stream under graph capture, is
// counted as no_times. Unfinished work of a lost device is counted as device_lost. The program's CUDA errors stay
// pending; until it reads them, nothing is tracked.
#ifndef ADAPTYST_CUDA_HPP
#define ADAPTYST_CUDA_HPP

#include <cuda_runtime_api.h>

#include "detail/gpu_runtime.hpp"

namespace adaptyst { inline namespace v1 {

namespace detail {

struct cuda_api {
  using event = cudaEvent_t;
  using stream = cudaStream_t;

#ifndef ADAPTYST_DISABLE
  using properties = cudaDeviceProp;
  using capture_mode = cudaStreamCaptureMode;
  using capture_status = cudaStreamCaptureStatus;

  static constexpr const char* name = "CUDA";
  static constexpr auto success = cudaSuccess, not_ready = cudaErrorNotReady;
  static constexpr auto relaxed = cudaStreamCaptureModeRelaxed;
  static constexpr auto not_capturing = cudaStreamCaptureStatusNone;
  static constexpr unsigned non_blocking = cudaStreamNonBlocking, timing_enabled = cudaEventDefault;

  static constexpr auto peek_error = &cudaPeekAtLastError;
  static constexpr auto clear_error = &cudaGetLastError;
  static constexpr auto get_device = &cudaGetDevice;
  static constexpr auto get_properties = &cudaGetDeviceProperties;
  static constexpr auto get_pci_bus_id = &cudaDeviceGetPCIBusId;
  static constexpr auto exchange_capture_mode = &cudaThreadExchangeStreamCaptureMode;
  static constexpr auto get_capture_status = &cudaStreamIsCapturing;
  static constexpr auto create_stream = &cudaStreamCreateWithFlags;
  static constexpr auto create_event = &cudaEventCreateWithFlags;
  static constexpr auto record_event = &cudaEventRecord;
  static constexpr auto query_event = &cudaEventQuery;
  static constexpr auto get_elapsed_ms = &cudaEventElapsedTime;
#endif
};

using cuda_runtime = gpu_runtime<cuda_api>;

}  // namespace detail

namespace cuda {

// Movable. True while the work is observed and has not ended; end() ends it.
using tracked = detail::tracked_work<detail::cuda_runtime>;

// Tracks work submitted to `stream` between this call and end(), without a payload.
template <class Name>
[[nodiscard]] tracked track(const Name& name, cudaStream_t stream, operation_kind kind = operation_kind::kernel,
                            const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                            uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  return detail::track_work<detail::cuda_runtime>(stream, name, kind, file, function, line);
}

// With a payload: adaptyst::work, or any aggregate with <adaptyst/payload.hpp>.
template <class Name, class Payload>
[[nodiscard]] tracked track(const Name& name, cudaStream_t stream, operation_kind kind, const Payload& payload,
                            const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                            uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  return detail::track_work<detail::cuda_runtime>(stream, name, kind, file, function, line, payload);
}

// Records all work that has ended on any device. Thread-safe.
template <class = void>
void collect() noexcept {
  detail::collect_tracked<detail::cuda_runtime>();
}

}  // namespace cuda

}}  // namespace adaptyst::v1

#endif
