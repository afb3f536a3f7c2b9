// Adds allocations and frees to the innermost open region of the thread. For the heap adapter.
//
// Cost when enabled: about 0.1 us. Thread-safe, noexcept; errno stays unchanged; allocates nothing. In a signal handler
// that interrupted the recorder, the event is lost and counted (in_signal).
#ifndef ADAPTYST_ADAPTER_HEAP_EVENT_HPP
#define ADAPTYST_ADAPTER_HEAP_EVENT_HPP

#include "../region.hpp"

#ifndef ADAPTYST_DISABLE

#include "../detail/events.hpp"

namespace adaptyst { inline namespace v1 {

// The weights of sampled calls, and their variances. `interval_bytes`: mean distance of sampled bytes; 0: all are counted.
struct heap_weights {
  double bytes = 0, calls = 0;
  double bytes_variance = 0, calls_variance = 0;
  double interval_bytes = 0;
};

// Live bytes of the process, if they are a new maximum; else 0.
struct heap_mark {
  double bytes = 0, variance = 0;
};

// The place of an allocation.
struct heap_place {
  const adaptyst_path* path = nullptr;  // of the open region; null: none
  uint64_t calls = 0;                   // of this region that have ended on this thread
  bool is_obtaining_recorder = false;   // the thread obtains its recorder, and cannot record
};

namespace detail {

// Begins and ends at once. Fires no probe, and has no place in a timeline.
struct ADAPTYST_DETAIL_HIDDEN heap_instant : begin_without_frame {
  ADAPTYST_DETAIL_INLINE void open(recorder& r, row& where, const event_source& from) const noexcept {
    bump(r.begun, 1);
    bump(r.ended, 1);
    bump(where.count, 1);
    for (uint32_t at = 0; at != where.attribute_count; ++at)
      add_attribute(where.attributes[at], from.payload->numbers[at]);
  }
  ADAPTYST_DETAIL_INLINE void start(const recorder&) const noexcept {}
};

// In the region of the allocation, which may have ended, and may be of another thread.
struct ADAPTYST_DETAIL_HIDDEN heap_instant_below : heap_instant {
  const adaptyst_path* region;
  explicit heap_instant_below(const adaptyst_path* path) noexcept : region(path) {}
  ADAPTYST_DETAIL_INLINE const adaptyst_path* parent(const recorder&) const noexcept { return region; }
};

// While a thread obtains its recorder for another ELF object, pthread_setspecific() may allocate.
template <class = void>
inline bool is_within_claim() noexcept {
  const process* const in = get_process(adaptyst_object_v5);
  if (in == nullptr) return false;
  const auto self = static_cast<uint32_t>(system::call(__NR_gettid));
  for (const recorder* r = load_acquire(in->control.recorders); r != nullptr; r = r->next)
    if (load(r->thread) == self && is_being_written(*r) && load(r->owner_pointer) == thread_pointer()) return true;
  return false;
}

template <class How, class Numbers>
inline void record_heap(How how, site& marker, const char* const* names, const Numbers& numbers) noexcept {
  payload_values payload{names, sizeof numbers / sizeof(double), {nullptr, 0}, {}};
  static_assert(sizeof numbers <= sizeof payload.numbers, "a payload has at most 8 numbers");
  __builtin_memcpy(payload.numbers, &numbers, sizeof numbers);
  begin_event(how, {marker, {marker.name, marker.name_bytes}, 0, &payload});
}

}  // namespace detail

constexpr char heap_outside[] = "(outside regions)";  // the row of events outside all regions

// The epoch in which this thread records now: another number means that an earlier observation has ended. 0: the thread
// cannot record, which is counted. `at`: where the thread is.
template <class = void>
inline uint64_t find_recording_epoch(heap_place& at) noexcept {
  if (!detail::is_enabled()) return 0;
  at.is_obtaining_recorder = detail::this_thread_recorder == nullptr && detail::is_within_claim();
  if (at.is_obtaining_recorder) return 0;
  detail::recorder* const own = detail::open_recorder();
  if (own == nullptr) return 0;
  const detail::frame& top = detail::top_frame(*own);
  at.path = top.path;
  at.calls = top.where->count;
  return own->own_epoch;
}

// An allocation of a block in the table. `calls`: heap_place::calls.
template <class = void>
inline void record_allocation(const heap_weights& made, const heap_mark& mark, uint64_t calls) noexcept {
  static constexpr const char* names[] = {
      "allocated_bytes",         "allocations",          "bytes_variance",   "calls_variance",
      "sampling_interval_bytes", "allocated_byte_calls", "high_water_bytes", "high_water_variance"};
  static detail::site marker{heap_outside, sizeof heap_outside - 1, "", "", 0, ADAPTYST_SITE_HEAP, nullptr};
  const double numbers[] = {made.bytes,          made.calls,          made.bytes_variance,
                            made.calls_variance, made.interval_bytes, made.bytes * static_cast<double>(calls),
                            mark.bytes,          mark.variance};
  detail::record_heap(detail::heap_instant(), marker, names, numbers);
}

// An allocation for which there is no room.
template <class = void>
inline void record_untracked(const heap_weights& made) noexcept {
  static constexpr const char* names[] = {"untracked_bytes", "untracked_calls", "untracked_bytes_variance",
                                          "untracked_calls_variance", "sampling_interval_bytes"};
  static detail::site marker{heap_outside, sizeof heap_outside - 1, "", "", 0, ADAPTYST_SITE_HEAP, nullptr};
  detail::record_heap(detail::heap_instant(), marker, names, made);
}

// A free, in the open region.
template <class = void>
inline void record_free(const heap_weights& freed) noexcept {
  static constexpr const char* names[] = {"freed_bytes", "frees", "freed_bytes_variance", "frees_variance",
                                          "sampling_interval_bytes"};
  static detail::site marker{heap_outside, sizeof heap_outside - 1, "", "", 0, ADAPTYST_SITE_HEAP, nullptr};
  detail::record_heap(detail::heap_instant(), marker, names, freed);
}

// The same free, in the region of the allocation.
template <class = void>
inline void record_release(const heap_weights& freed, const heap_place& allocated) noexcept {
  static constexpr const char* names[] = {"released_bytes", "releases", "released_variance", "released_byte_calls"};
  static detail::site marker{heap_outside, sizeof heap_outside - 1, "", "", 0, ADAPTYST_SITE_HEAP, nullptr};
  const double numbers[] = {freed.bytes, freed.calls, freed.bytes_variance,
                            freed.bytes * static_cast<double>(allocated.calls)};
  detail::record_heap(detail::heap_instant_below(allocated.path), marker, names, numbers);
}

// Calls that no other number contains. `nested`: allocations during an event, for example in a signal handler.
// `unseen`: frees.
template <class = void>
inline void record_lost_calls(uint64_t nested, uint64_t unseen) noexcept {
  static constexpr const char* names[] = {"nested_calls", "unseen_frees"};
  static detail::site marker{heap_outside, sizeof heap_outside - 1, "", "", 0, ADAPTYST_SITE_HEAP, nullptr};
  const double numbers[] = {static_cast<double>(nested), static_cast<double>(unseen)};
  detail::record_heap(detail::heap_instant(), marker, names, numbers);
}

}}  // namespace adaptyst::v1

#endif

#endif
