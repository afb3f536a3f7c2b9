// Tells how long work on HIP streams takes, by events around it; for programs that are linked with AMD's runtime.
//
//   adaptyst::hip::tracked t = adaptyst::hip::track("stencil", stream, adaptyst::operation_kind::kernel,
//                                                   adaptyst::work{bytes, flops});
//   stencil<<<grid, block, 0, stream>>>(…);
//   t.end();                            // or at the end of the scope
//   …
//   adaptyst::hip::collect();           // before the profile is taken: books what the device has finished
//
// As cuda.hpp, whose header says what it does, what it costs and what it counts; the two share all but the names of the
// runtime's functions. Compiled with HIP 5.2; never run on a device (docs/hip.md).
#ifndef ADAPTYST_HIP_HPP
#define ADAPTYST_HIP_HPP

#include <hip/hip_runtime_api.h>

#include "detail/event_stream.hpp"

namespace adaptyst { inline namespace v1 {

namespace detail {

struct hip_runtime {
  using event = hipEvent_t;
  using stream = hipStream_t;

#ifndef ADAPTYST_DISABLE
  // While it lives: an error of ours is forgotten, one that the program has not asked for yet stays.
  class own_errors {
   public:
    own_errors() noexcept : sound_(hipPeekAtLastError() == hipSuccess) {}
    ~own_errors() {
      if (sound_) static_cast<void>(hipGetLastError());
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
    beside_captures() noexcept : exchanged_(hipThreadExchangeStreamCaptureMode(&mode_) == hipSuccess) {}
    ~beside_captures() {
      if (exchanged_) static_cast<void>(hipThreadExchangeStreamCaptureMode(&mode_));
    }
    beside_captures(const beside_captures&) = delete;
    beside_captures& operator=(const beside_captures&) = delete;

   private:
    hipStreamCaptureMode mode_ = hipStreamCaptureModeRelaxed;  // before it is exchanged
    bool exchanged_;
  };

  static int current_device() noexcept {
    int ordinal = -1;
    return hipGetDevice(&ordinal) == hipSuccess ? ordinal : -1;
  }
  static device describe(int ordinal) noexcept {
    hipDeviceProp_t properties{};
    char place[32] = "";
    if (hipGetDeviceProperties(&properties, ordinal) != hipSuccess) properties.name[0] = '\0';
    if (hipDeviceGetPCIBusId(place, sizeof place, ordinal) != hipSuccess) place[0] = '\0';
    return device_at(ordinal, "HIP", properties.name, place);
  }
  static bool create_stream(stream& made) noexcept {
    return hipStreamCreateWithFlags(&made, hipStreamNonBlocking) == hipSuccess;
  }
  static bool is_capturing(stream in) noexcept {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    return hipStreamIsCapturing(in, &status) != hipSuccess || status != hipStreamCaptureStatusNone;
  }
  static bool create(event& made) noexcept { return hipEventCreateWithFlags(&made, hipEventDefault) == hipSuccess; }
  static bool record(event what, stream in) noexcept { return hipEventRecord(what, in) == hipSuccess; }
  static event_state state(event of) noexcept {
    const hipError_t answer = hipEventQuery(of);
    if (answer == hipSuccess) return event_state::reached;
    return answer == hipErrorNotReady ? event_state::pending : event_state::lost;
  }
  static bool elapsed_ms(float& ms, event from, event to) noexcept {
    return hipEventElapsedTime(&ms, from, to) == hipSuccess;
  }
#endif
};

}  // namespace detail

namespace hip {

// Moves; is true while it is observed and has not ended; end().
using tracked = detail::tracked_work<detail::hip_runtime>;

// For work that is given to `stream` from now until end(). Without a payload.
template <class Name>
[[nodiscard]] tracked track(const Name& name, hipStream_t stream, operation_kind kind = operation_kind::kernel,
                            const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                            uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  return detail::track_work<detail::hip_runtime>(stream, name, kind, file, function, line);
}

// With one: adaptyst::work, or any aggregate with <adaptyst/payload.hpp>.
template <class Name, class Payload>
[[nodiscard]] tracked track(const Name& name, hipStream_t stream, operation_kind kind, const Payload& payload,
                            const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                            uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  return detail::track_work<detail::hip_runtime>(stream, name, kind, file, function, line, payload);
}

// Books all that has ended on any device. Thread-safe.
template <class = void>
void collect() noexcept {
  detail::collect_tracked<detail::hip_runtime>();
}

}  // namespace hip

}}  // namespace adaptyst::v1

#endif
