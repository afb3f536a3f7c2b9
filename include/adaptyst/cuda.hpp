// Tells how long work on CUDA streams takes, by events around it; for programs that are linked with the CUDA runtime.
//
//   adaptyst::cuda::tracked t = adaptyst::cuda::track("stencil", stream, adaptyst::operation_kind::kernel,
//                                                     adaptyst::work{bytes, flops});
//   stencil<<<grid, block, 0, stream>>>(…);
//   t.end();                            // or at the end of the scope
//   …
//   adaptyst::cuda::collect();          // before the profile is taken: books what the device has finished
//
// The work belongs to the region in which track() is called, and is booked on the current device. Nothing waits: what
// has ended is found at the next track() on its device or at collect(). Only collect() may sleep, once, for 20 ms:
// until the device's clock has been compared twice.
//
// Cost while nothing listens: a comparison and a branch, and the arguments. Awake: two events in the stream, and some
// calls of the runtime, microseconds (docs/cuda.md). An event's time has a resolution of some 0.5 us, and what the
// device does before its first kernel counts with it. libadaptyst-cuda.so sees every kernel by itself, and more
// exactly.
//
// At most 4096 in flight on a device; what is tracked beyond, or in a stream that is captured into a graph, is counted
// as no_times. If the device is lost, so is what it had to do: device_lost. An error of the program's own is left for
// it to find; while it does, nothing is tracked.
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
  static constexpr unsigned non_blocking = cudaStreamNonBlocking, with_times = cudaEventDefault;

  static constexpr auto peek_error = &cudaPeekAtLastError;
  static constexpr auto take_error = &cudaGetLastError;
  static constexpr auto get_device = &cudaGetDevice;
  static constexpr auto get_properties = &cudaGetDeviceProperties;
  static constexpr auto get_place = &cudaDeviceGetPCIBusId;
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

// Can be moved. Is true while the work is observed and has not ended; end() ends it.
using tracked = detail::tracked_work<detail::cuda_runtime>;

// For work that is given to `stream` from now until end(). Without a payload.
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

// Books all that has ended on any device. Thread-safe.
template <class = void>
void collect() noexcept {
  detail::collect_tracked<detail::cuda_runtime>();
}

}  // namespace cuda

}}  // namespace adaptyst::v1

#endif
