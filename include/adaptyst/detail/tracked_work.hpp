// Work on a stream from track() to end(), and collection of finished work.
#ifndef ADAPTYST_DETAIL_TRACKED_WORK_HPP
#define ADAPTYST_DETAIL_TRACKED_WORK_HPP

#include "../operation.hpp"

#ifndef ADAPTYST_DISABLE
#include "event_device.hpp"
#endif

namespace adaptyst { inline namespace v1 { namespace detail {

#ifdef ADAPTYST_DISABLE

inline namespace disabled {
template <class Runtime>
class tracked_work {
 public:
  tracked_work() noexcept = default;
  tracked_work(tracked_work&&) noexcept = default;
  tracked_work& operator=(tracked_work&&) noexcept = default;
  ~tracked_work() {}  // as with markers: avoids a warning about an unused variable
  explicit operator bool() const noexcept { return false; }
  void end() noexcept {}
};

template <class Runtime, class Name, class... Payload>
tracked_work<Runtime> track_work(typename Runtime::stream, const Name& name, operation_kind, const char*, const char*,
                                 uint32_t, const Payload&...) noexcept {
  return static_cast<void>(to_text(name)), tracked_work<Runtime>{};
}
template <class Runtime>
void collect_tracked() noexcept {}
}  // namespace disabled

#else

// Work between track() and end(). Move-only; ends with its scope at the latest.
template <class Runtime>
class tracked_work {
 public:
  tracked_work() noexcept = default;
  tracked_work(tracked_work&& from) noexcept : on_(from.on_), item_(from.item_) { from.item_ = nullptr; }
  tracked_work& operator=(tracked_work&& from) noexcept {
    if (this == &from) return *this;
    end();
    on_ = from.on_;
    item_ = from.item_;
    from.item_ = nullptr;
    return *this;
  }
  ~tracked_work() { end(); }

  // True while it is observed and has not ended.
  explicit operator bool() const noexcept { return item_ != nullptr; }

  // Later work in the stream does not belong to it. A second call does nothing.
  void end() noexcept {
    if (item_ == nullptr) return;
    const typename Runtime::error_guard program;
    if (Runtime::record(item_->end, item_->on)) {
      on_->add_in_flight(*item_);
    } else {
      item_->tracked.abandon(operation_loss::device_lost);
      on_->give_back(*item_);
    }
    item_ = nullptr;
  }

  // For track().
  template <class Submit>
  static tracked_work begin(typename Runtime::stream in, Submit&& submit_on) noexcept {
    tracked_work begun;
    const typename Runtime::error_guard program;
    event_device<Runtime>* const on = event_device<Runtime>::current();
    if (on == nullptr) return begun;
    if (program.is_sound()) {
      const typename Runtime::capture_guard asking;
      on->synchronise(false);
      on->collect(few_pending);
    }
    operation_loss why = operation_loss::device_lost;
    typename event_device<Runtime>::work_item* item = nullptr;
    operation submitted = submit_on(on->identity());
    if (program.is_sound() && submitted) {
      why = operation_loss::no_times;
      if (!Runtime::is_capturing(in)) item = on->take();
    }
    if (item != nullptr) {
      item->on = in;
      item->handed_over_ns = now_ns();
      if (Runtime::record(item->begin, in)) {
        static_cast<void>(item->tracked = static_cast<operation&&>(submitted));
        begun.on_ = on;
        begun.item_ = item;
        return begun;
      }
      why = operation_loss::device_lost;
      on->give_back(*item);
    }
    submitted.abandon(why);
    return begun;
  }

 private:
  static constexpr uint32_t few_pending = 2;

  event_device<Runtime>* on_ = nullptr;
  typename event_device<Runtime>::work_item* item_ = nullptr;
};

template <class Runtime, class Name, class... Payload>
tracked_work<Runtime> track_work(typename Runtime::stream in, const Name& name, operation_kind kind, const char* file,
                                 const char* function, uint32_t line, const Payload&... payload) noexcept {
  if (!is_enabled()) return {};
  return tracked_work<Runtime>::begin(
      in, [&](const device& on) { return submit(name, on, in, kind, payload..., file, function, line); });
}

template <class Runtime>
void collect_tracked() noexcept {
  if (!is_enabled()) return;
  const typename Runtime::error_guard program;
  if (!program.is_sound()) return;
  const typename Runtime::capture_guard asking;
  event_device<Runtime>::for_each([](event_device<Runtime>& device) {
    device.synchronise(true);
    device.collect(event_device<Runtime>::max_in_flight);
  });
}

#endif

}}}  // namespace adaptyst::v1::detail

#endif
