// Measures work on a stream by two events, which the device stamps when it reaches them.
//
// Nothing waits for the device: queries find finished work when further work is tracked or the program collects. The
// runtime gives only the distance of two events, as a float in ms. Distances are measured from an anchor, an event on
// our own stream with a known time. Anchors are renewed often enough for the float's resolution.
//
// `Runtime` makes, records and queries events: gpu_runtime.hpp.
#ifndef ADAPTYST_DETAIL_EVENT_DEVICE_HPP
#define ADAPTYST_DETAIL_EVENT_DEVICE_HPP

#include <time.h>

#include <mutex>
#include <new>

#include "../adapter/device_clock.hpp"
#include "../operation.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

enum class event_state { reached, pending, lost };

// State of one device. Never freed, because work may outlive every object of the program.
template <class Runtime>
class event_device {
 public:
  using event = typename Runtime::event;
  using stream = typename Runtime::stream;

  static constexpr uint32_t max_in_flight = 4096;
  static constexpr uint32_t max_anchors = 16;

  struct anchor {
    event at;
    uint64_t device_ns;
    uint32_t users;  // items measured from it; it is not reused before they end
    bool made;
  };

  struct work_item {
    event begin, end;
    stream on;
    operation tracked;
    anchor* from;
    uint64_t handed_over_ns;
    work_item* next;
  };

  // The current device; null if there is none, or without memory.
  static event_device* current() noexcept {
    const int ordinal = Runtime::current_device();
    if (ordinal < 0 || ordinal >= max_ordinals) return nullptr;
    event_device*& entry = all()[ordinal];
    event_device* found = load_acquire(entry);
    if (found != nullptr) return found;
    auto* const made = new (std::nothrow) event_device(ordinal);
    if (made == nullptr || compare_exchange(entry, found, made)) return made;
    delete made;
    return found;
  }

  template <class Change>
  static void for_each(Change&& change) noexcept {
    for (int ordinal = 0; ordinal != max_ordinals; ++ordinal)
      if (event_device* const device = load_acquire(all()[ordinal])) change(*device);
  }

  const device& identity() const noexcept { return identity_; }

  // Null if too many are in flight, or none can be made.
  work_item* take() noexcept {
    const std::lock_guard<std::mutex> held(lock_);
    if (current_ == nullptr) return nullptr;
    work_item* item = free_;
    if (item != nullptr) {
      free_ = item->next;
    } else {
      if (items_ == max_in_flight || (item = new (std::nothrow) work_item{}) == nullptr) return nullptr;
      ++items_;
      if (!Runtime::create(item->begin) || !Runtime::create(item->end))
        return nullptr;  // its memory is lost, but counted
    }
    item->from = current_;
    ++item->from->users;
    return item;
  }

  void give_back(work_item& item) noexcept {
    const std::lock_guard<std::mutex> held(lock_);
    release(item);
  }

  void add_in_flight(work_item& item) noexcept {
    const std::lock_guard<std::mutex> held(lock_);
    item.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &item;
    last_ = &item;
  }

  // Records finished work. Stops after `max_pending` unfinished items, and at once if another thread does it.
  void collect(uint32_t max_pending) noexcept {
    const std::unique_lock<std::mutex> held(lock_, std::try_to_lock);
    if (!held || clock_.sync_points() < 2) return;
    work_item* before = nullptr;
    for (work_item* item = first_; item != nullptr && max_pending != 0;) {
      work_item* const next = item->next;
      const event_state state = Runtime::state(item->end);
      if (state == event_state::pending) {
        --max_pending;
        before = item;
      } else {
        (before != nullptr ? before->next : first_) = next;
        if (next == nullptr) last_ = before;
        if (state == event_state::reached) {
          finish(*item);
        } else {
          item->tracked.abandon(operation_loss::device_lost);
        }
        release(*item);
      }
      item = next;
    }
  }

  // Takes a sync point if due: often at first, later once per second, which limits extrapolation. `wait`: with only one
  // point, waits until the second can be taken.
  void synchronise(bool wait) noexcept {
    const std::unique_lock<std::mutex> held(lock_, std::try_to_lock);
    if (!held) return;
    const uint64_t since_first = now_ns() - first_sync_ns_;
    if (clock_.sync_points() == 1 && wait && since_first < min_span_ns) {
      const timespec left{0, static_cast<long>(min_span_ns - since_first)};
      nanosleep(&left, nullptr);
    } else if (!wait && now_ns() < next_sync_ns_) {
      return;
    }
    take_anchor();
    const uint64_t now = now_ns();
    const uint64_t span = now - first_sync_ns_;
    next_sync_ns_ = now + (span / 2 < min_span_ns ? min_span_ns : span / 2 > max_wait_ns ? max_wait_ns : span / 2);
  }

 private:
  static constexpr int max_ordinals = 63;
  static constexpr uint64_t min_span_ns = 20'000'000;
  static constexpr uint64_t max_wait_ns = 1'000'000'000;
  // Duration of an event on an empty stream: good enough, and longest usable.
  static constexpr uint64_t good_bracket_ns = 30'000, widest_bracket_ns = 200'000;
  // Error of a sync point: work that appears to start up to this much before its submission started at once.
  static constexpr uint64_t max_early_ns = 2 * widest_bracket_ns;

  explicit event_device(int ordinal) noexcept : identity_(Runtime::describe(ordinal)) {}

  ADAPTYST_DETAIL_HIDDEN static event_device** all() noexcept {
    static event_device* every[max_ordinals] = {};
    return every;
  }

  // The lock is held from here on.

  void release(work_item& item) noexcept {
    --item.from->users;
    static_cast<void>(item.tracked = operation{});  // nvcc treats an assignment as a value that must be used
    item.next = free_;
    free_ = &item;
  }

  void finish(work_item& item) noexcept {
    float since_ms = 0, length_ms = 0;
    uint64_t started_ns = 0;
    if (!Runtime::elapsed_ms(since_ms, item.from->at, item.begin) ||
        !Runtime::elapsed_ms(length_ms, item.begin, item.end) || !(since_ms >= 0) || !(length_ms >= 0))
      return item.tracked.abandon(operation_loss::no_times);
    if (!clock_.to_monotonic(item.from->device_ns + in_whole_ns(since_ms), started_ns))
      return item.tracked.abandon(operation_loss::unknown_clock);
    if (started_ns < item.handed_over_ns && item.handed_over_ns - started_ns <= max_early_ns)
      started_ns = item.handed_over_ns;
    item.tracked.complete(started_ns, started_ns + in_whole_ns(length_ms));
  }

  static uint64_t in_whole_ns(float ms) noexcept { return static_cast<uint64_t>(static_cast<double>(ms) * 1e6 + 0.5); }

  anchor* free_anchor() noexcept {
    for (anchor& each : anchors_) {
      if (&each == current_ || each.users != 0) continue;
      if (!each.made) each.made = Runtime::create(each.at);
      return each.made ? &each : nullptr;
    }
    return nullptr;
  }

  void take_anchor() noexcept {
    if (!own_made_) own_made_ = Runtime::create_stream(own_);
    anchor* const next = own_made_ ? free_anchor() : nullptr;
    if (next == nullptr) return;
    uint64_t before = 0, after = 0;
    for (int attempt = 0; attempt != 5 && (attempt == 0 || after - before > good_bracket_ns); ++attempt) {
      before = now_ns();
      if (!Runtime::record(next->at, own_)) return;
      event_state state;
      do {
        state = Runtime::state(next->at);
        after = now_ns();
      } while (state == event_state::pending && after - before <= widest_bracket_ns);
      if (state != event_state::reached) return;  // the device is busy: retry later
    }
    if (after - before > widest_bracket_ns) return;
    float since_ms = 0;
    if (current_ != nullptr && !(Runtime::elapsed_ms(since_ms, current_->at, next->at) && since_ms >= 0)) return;
    next->device_ns = (current_ != nullptr ? current_->device_ns : first_device_ns) + in_whole_ns(since_ms);
    const uint64_t host_ns = before + (after - before) / 2;
    if (current_ == nullptr) first_sync_ns_ = host_ns;
    clock_.synchronise(next->device_ns, host_ns);
    current_ = next;
    report_clock(identity_, clock_);
  }

  static constexpr uint64_t first_device_ns = 1'000'000'000;  // what our count of the device's time begins with

  const device identity_;
  std::mutex lock_;
  device_clock clock_{clock_id::device};
  uint64_t first_sync_ns_ = 0, next_sync_ns_ = 0;
  stream own_{};
  bool own_made_ = false;
  anchor anchors_[max_anchors]{};
  anchor* current_ = nullptr;
  work_item* free_ = nullptr;
  work_item* first_ = nullptr;  // in flight, in order of submission
  work_item* last_ = nullptr;
  uint32_t items_ = 0;
};

}}}  // namespace adaptyst::v1::detail

#endif
