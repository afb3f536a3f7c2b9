// Common code of the CUDA and HIP runtimes. `Api` of cuda.hpp or hip.hpp provides the function names.
#ifndef ADAPTYST_DETAIL_GPU_RUNTIME_HPP
#define ADAPTYST_DETAIL_GPU_RUNTIME_HPP

#include "tracked_work.hpp"

#ifndef ADAPTYST_DISABLE
#include "../adapter/gpu_name.hpp"
#include "system.hpp"
#endif

namespace adaptyst { inline namespace v1 { namespace detail {

template <class Api>
struct gpu_runtime {
  using event = typename Api::event;
  using stream = typename Api::stream;

#ifndef ADAPTYST_DISABLE
  // While it lives, errors of our calls are cleared, and a pending error of the program is kept.
  class error_guard {
   public:
    error_guard() noexcept : sound_(Api::peek_error() == Api::success) {}
    ~error_guard() {
      if (sound_) static_cast<void>(Api::clear_error());
    }
    error_guard(const error_guard&) = delete;
    error_guard& operator=(const error_guard&) = delete;
    bool is_sound() const noexcept { return sound_; }

   private:
    const system::errno_kept unchanged_;
    bool sound_;
  };
  // While it lives, event queries do not break a stream capture of another thread.
  class capture_guard {
   public:
    capture_guard() noexcept : exchanged_(Api::exchange_capture_mode(&mode_) == Api::success) {}
    ~capture_guard() {
      if (exchanged_) static_cast<void>(Api::exchange_capture_mode(&mode_));
    }
    capture_guard(const capture_guard&) = delete;
    capture_guard& operator=(const capture_guard&) = delete;

   private:
    typename Api::capture_mode mode_ = Api::relaxed;  // value before the exchange
    bool exchanged_;
  };

  static int current_device() noexcept {
    int ordinal = -1;
    return Api::get_device(&ordinal) == Api::success ? ordinal : -1;
  }
  static device describe(int ordinal) noexcept {
    typename Api::properties properties{};
    char place[32] = "";
    if (Api::get_properties(&properties, ordinal) != Api::success) properties.name[0] = '\0';
    if (Api::get_pci_bus_id(place, sizeof place, ordinal) != Api::success) place[0] = '\0';
    return gpu_at(ordinal, Api::name, properties.name, place);
  }
  static bool create_stream(stream& made) noexcept {
    return Api::create_stream(&made, Api::non_blocking) == Api::success;
  }
  static bool is_capturing(stream in) noexcept {
    typename Api::capture_status status = Api::not_capturing;
    return Api::get_capture_status(in, &status) != Api::success || status != Api::not_capturing;
  }
  static bool create(event& made) noexcept { return Api::create_event(&made, Api::timing_enabled) == Api::success; }
  static bool record(event what, stream in) noexcept { return Api::record_event(what, in) == Api::success; }
  static event_state state(event event) noexcept {
    const auto answer = Api::query_event(event);
    if (answer == Api::success) return event_state::reached;
    return answer == Api::not_ready ? event_state::pending : event_state::lost;
  }
  static bool elapsed_ms(float& ms, event from, event end) noexcept {
    return Api::get_elapsed_ms(&ms, from, end) == Api::success;
  }
#endif
};

}}}  // namespace adaptyst::v1::detail

#endif
