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

// The numbers that an allocation adds. The members have the order of the names in record_allocation().
struct heap_allocation {
  double allocated_bytes = 0, allocations = 0;          // by their weights, if the allocation was sampled
  double bytes_variance = 0, allocations_variance = 0;  // of these; 0: exact
  double high_water_bytes = 0;                          // live bytes of the process if they are a new maximum; else 0
  double untracked_bytes = 0, untracked_calls = 0;      // the same if there is no room to recognise the free; else 0
  double tracked_byte_calls = 0;                        // the other bytes, times heap_place::calls
};

// The place of an allocation.
struct heap_place {
  const adaptyst_path* path = nullptr;  // of the open region; null: none
  uint64_t calls = 0;                   // of this region that have ended on this thread
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
  detail::recorder* const own = detail::open_recorder();
  if (own == nullptr) return 0;
  const detail::frame& top = detail::top_frame(*own);
  at.path = top.path;
  at.calls = top.where->count;
  return own->own_epoch;
}

template <class = void>
inline void record_allocation(const heap_allocation& made) noexcept {
  static constexpr const char* names[] = {"allocated_bytes",      "allocations",       "bytes_variance",
                                          "allocations_variance", "high_water_bytes",  "untracked_bytes",
                                          "untracked_calls",      "tracked_byte_calls"};
  static detail::site marker{heap_outside, sizeof heap_outside - 1, "", "", 0, ADAPTYST_SITE_HEAP, nullptr};
  detail::record_heap(detail::heap_instant(), marker, names, made);
}

// The free of a block with this weight: in the open region, and in that of the allocation.
template <class = void>
inline void record_free(double bytes, double calls, const heap_place& allocated) noexcept {
  static constexpr const char* names[] = {"freed_bytes", "frees"};
  static constexpr const char* below[] = {"released_bytes", "releases", "released_byte_calls"};
  static detail::site marker{heap_outside, sizeof heap_outside - 1, "", "", 0, ADAPTYST_SITE_HEAP, nullptr};
  static detail::site release{heap_outside, sizeof heap_outside - 1, "", "", 0, ADAPTYST_SITE_HEAP, nullptr};
  const double freed[] = {bytes, calls};
  const double released[] = {bytes, calls, bytes * static_cast<double>(allocated.calls)};
  detail::record_heap(detail::heap_instant(), marker, names, freed);
  detail::record_heap(detail::heap_instant_below(allocated.path), release, below, released);
}

}}  // namespace adaptyst::v1

#endif

#endif
