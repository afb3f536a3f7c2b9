// Measures work on HIP streams with events before and after it. For programs that link with AMD's runtime.
//
//   adaptyst::hip::tracked t = adaptyst::hip::track("stencil", stream, adaptyst::operation_kind::kernel,
//                                                   adaptyst::work{bytes, flops});
//   stencil<<<grid, block, 0, stream>>>(…);
//   t.end();                            // or at the end of the scope
//   …
//   adaptyst::hip::collect();           // before the profile is taken: records finished work
//
// Behaviour, cost and limits are those of cuda.hpp; the implementations differ only in the runtime's function names.
// Compiled with HIP 5.2; untested on a device (docs/hip.md).
#ifndef ADAPTYST_HIP_HPP
#define ADAPTYST_HIP_HPP

#include <hip/hip_runtime_api.h>

#include "detail/gpu_runtime.hpp"

namespace adaptyst { inline namespace v1 {

namespace detail {

struct hip_api {
  using event = hipEvent_t;
  using stream = hipStream_t;

#ifndef ADAPTYST_DISABLE
  using properties = hipDeviceProp_t;
  using capture_mode = hipStreamCaptureMode;
  using capture_status = hipStreamCaptureStatus;

  static constexpr const char* name = "HIP";
  static constexpr auto success = hipSuccess, not_ready = hipErrorNotReady;
  static constexpr auto relaxed = hipStreamCaptureModeRelaxed;
  static constexpr auto not_capturing = hipStreamCaptureStatusNone;
  static constexpr unsigned non_blocking = hipStreamNonBlocking, timing_enabled = hipEventDefault;

  static constexpr auto peek_error = &hipPeekAtLastError;
  static constexpr auto clear_error = &hipGetLastError;
  static constexpr auto get_device = &hipGetDevice;
  static constexpr auto get_properties = &hipGetDeviceProperties;
  static constexpr auto get_pci_bus_id = &hipDeviceGetPCIBusId;
  static constexpr auto exchange_capture_mode = &hipThreadExchangeStreamCaptureMode;
  static constexpr auto get_capture_status = &hipStreamIsCapturing;
  static constexpr auto create_stream = &hipStreamCreateWithFlags;
  static constexpr auto create_event = &hipEventCreateWithFlags;
  static constexpr auto record_event = &hipEventRecord;
  static constexpr auto query_event = &hipEventQuery;
  static constexpr auto get_elapsed_ms = &hipEventElapsedTime;
#endif
};

using hip_runtime = gpu_runtime<hip_api>;

}  // namespace detail

namespace hip {

// Movable. True while the work is observed and has not ended; end() ends it.
using tracked = detail::tracked_work<detail::hip_runtime>;

// Tracks work submitted to `stream` between this call and end(), without a payload.
template <class Name>
[[nodiscard]] tracked track(const Name& name, hipStream_t stream, operation_kind kind = operation_kind::kernel,
                            const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                            uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  return detail::track_work<detail::hip_runtime>(stream, name, kind, file, function, line);
}

// With a payload: adaptyst::work, or any aggregate with <adaptyst/payload.hpp>.
template <class Name, class Payload>
[[nodiscard]] tracked track(const Name& name, hipStream_t stream, operation_kind kind, const Payload& payload,
                            const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                            uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  return detail::track_work<detail::hip_runtime>(stream, name, kind, file, function, line, payload);
}

// Records all work that has ended on any device. Thread-safe.
template <class = void>
void collect() noexcept {
  detail::collect_tracked<detail::hip_runtime>();
}

}  // namespace hip

}}  // namespace adaptyst::v1

#endif
