// Tells how long work on CUDA streams takes, by events around it; for programs that are linked with the CUDA runtime.
//
//   adaptyst::cuda::tracked t = adaptyst::cuda::track("stencil", stream, adaptyst::operation_kind::kernel,
//                                                     adaptyst::work{bytes, flops});
//   stencil<<<grid, block, 0, stream>>>(…);
//   t.end();                            // or at the end of the scope
//   …
//   adaptyst::cuda::collect();          // before the profile is taken: books what the device has finished
//
// The work belongs to the region in which track() is called, and is booked on the current device. Nothing waits: what has
// ended is found at the next track() on its device or at collect(). Only collect() may sleep, once, for 20 ms: until the
// device's clock has been compared twice.
//
// Cost while nobody looks: a comparison and a branch, and the arguments. Awake: two events in the stream, and some calls of
// the runtime, microseconds (docs/cuda.md). An event's time has a resolution of some 0.5 us, and what the device does
// before its first kernel counts with it. libadaptyst-cuda.so sees every kernel by itself, and more exactly.
//
// At most 4096 in flight on a device; what is tracked beyond, or in a stream that is captured into a graph, is counted as
// no_times. If the device is lost, so is what it had to do: device_lost. An error of the program's own is left for it to
// find; while it does, nothing is tracked.
#ifndef ADAPTYST_CUDA_HPP
#define ADAPTYST_CUDA_HPP

#include <cuda_runtime_api.h>

#include "detail/event_stream.hpp"

namespace adaptyst { inline namespace v1 {

namespace detail {

struct cuda_runtime {
  using event = cudaEvent_t;
  using stream = cudaStream_t;

#ifndef ADAPTYST_DISABLE
  // While it lives: an error of ours is forgotten, one that the program has not asked for yet stays.
  class own_errors {
   public:
    own_errors() noexcept : sound_(cudaPeekAtLastError() == cudaSuccess) {}
    ~own_errors() {
      if (sound_) static_cast<void>(cudaGetLastError());
    }
    own_errors(const own_errors&) = delete;
    own_errors& operator=(const own_errors&) = delete;
    bool is_sound() const noexcept { return sound_; }

   private:
    bool sound_;
  };
  // While it lives, asking for events does not break a capture that another thread is at.
  class beside_captures {
   public:
    beside_captures() noexcept : exchanged_(cudaThreadExchangeStreamCaptureMode(&mode_) == cudaSuccess) {}
    ~beside_captures() {
      if (exchanged_) static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_));
    }
    beside_captures(const beside_captures&) = delete;
    beside_captures& operator=(const beside_captures&) = delete;

   private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // before it is exchanged
    bool exchanged_;
  };

  static int current_device() noexcept {
    int ordinal = -1;
    return cudaGetDevice(&ordinal) == cudaSuccess ? ordinal : -1;
  }
  static device describe(int ordinal) noexcept {
    cudaDeviceProp properties{};
    char place[32] = "";
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) properties.name[0] = '\0';
    if (cudaDeviceGetPCIBusId(place, sizeof place, ordinal) != cudaSuccess) place[0] = '\0';
    return device_at(ordinal, "CUDA", properties.name, place);
  }
  static bool create_stream(stream& made) noexcept {
    return cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) == cudaSuccess;
  }
  static bool is_capturing(stream in) noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(in, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
  }
  static bool create(event& made) noexcept { return cudaEventCreateWithFlags(&made, cudaEventDefault) == cudaSuccess; }
  static bool record(event what, stream in) noexcept { return cudaEventRecord(what, in) == cudaSuccess; }
  static event_state state(event of) noexcept {
    const cudaError_t answer = cudaEventQuery(of);
    if (answer == cudaSuccess) return event_state::reached;
    return answer == cudaErrorNotReady ? event_state::pending : event_state::lost;
  }
  static bool elapsed_ms(float& ms, event from, event to) noexcept {
    return cudaEventElapsedTime(&ms, from, to) == cudaSuccess;
  }
#endif
};

}  // namespace detail

namespace cuda {

// Moves; is true while it is observed and has not ended; end().
using tracked = detail::tracked_work<detail::cuda_runtime>;

// For work that is given to `stream` from now until end(). Without a payload.
template <class Name>
[[nodiscard]] tracked track(const Name& name, cudaStream_t stream, operation_kind kind = operation_kind::kernel,
                            const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                            uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  return detail::track_work<detail::cuda_runtime>(stream, name, kind, file, function, line);
}

// With one: adaptyst::work, or any aggregate with <adaptyst/payload.hpp>.
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
