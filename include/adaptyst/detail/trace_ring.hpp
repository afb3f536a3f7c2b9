// What happened when, for a timeline: a ring for each thread, written by it alone and read by the collector or
// observer.
//
// A full ring loses what is new, and counts it; the sums of the profile are not affected. Regions that an overhead budget
// thins have no entries, since gaps between their events would look like idle time. Two or three stores an event; nothing
// while no timeline is requested.
#ifndef ADAPTYST_DETAIL_TRACE_RING_HPP
#define ADAPTYST_DETAIL_TRACE_RING_HPP

#include "../probe_abi.h"
#include "atomic.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Says which numbers an entry holds. It is kept in the lowest bits of the path's address.
enum class traced : uint64_t {
  scope,      // begin, end: timestamps; thread. What is bound to scopes nests
  handle,     // begin, end: timestamps; thread that ended it
  operation,  // submitted, started, ended: CLOCK_MONOTONIC; the next entry is its `queue`
  queue,      // number of the queue, nothing, thread that submitted
  metric,     // timestamp, bits of the value, thread
  mark,       // timestamp, nothing, thread
};
constexpr uint64_t traced_bits = 7;

struct trace_entry {
  uint64_t path_and_what;
  uint64_t numbers[3];
};

struct trace_ring {
  uint64_t head;         // entries written, ever
  uint64_t tail_seen;    // what the writer knows of the tail
  uint64_t capacity;     // a power of two; 0: no memory for more
  uint64_t first;        // entries that were written for an earlier collector
  uint64_t lost;         // for this one
  const uint64_t* tail;  // entries read: the reader's, see observer_settings.hpp
  uint64_t thinned;      // for this collector: events of thinned regions, estimated from those that were recorded
  uint64_t pad;
  trace_entry entries[1];  // `capacity` of them
};

constexpr uint64_t ring_bytes(uint64_t capacity) noexcept {
  return sizeof(trace_ring) + capacity * sizeof(trace_entry);
}

// Room for `wanted` entries; null: there is none.
template <class = void>
ADAPTYST_DETAIL_INLINE trace_entry* room_in(trace_ring& ring, uint64_t wanted) noexcept {
  if (ADAPTYST_DETAIL_UNLIKELY(ring.head + wanted - ring.tail_seen > ring.capacity)) {
    const uint64_t tail = load_acquire(*ring.tail);
    // A tail that is not within the ring is wrong, and ignored.
    if (tail - ring.tail_seen <= ring.head - ring.tail_seen) store(ring.tail_seen, tail);
    if (ring.head + wanted - ring.tail_seen > ring.capacity) {
      bump(ring.lost, 1);
      return nullptr;
    }
  }
  return &ring.entries[ring.head & (ring.capacity - 1)];
}

template <class = void>
ADAPTYST_DETAIL_INLINE void set_entry(trace_entry& entry, traced what, const adaptyst_path* path, uint64_t first,
                                      uint64_t second, uint64_t third) noexcept {
  store(entry.path_and_what, reinterpret_cast<uintptr_t>(path) | static_cast<uint64_t>(what));
  store(entry.numbers[0], first);
  store(entry.numbers[1], second);
  store(entry.numbers[2], third);
}

template <class = void>
ADAPTYST_DETAIL_INLINE void trace(trace_ring& ring, uint32_t thread, traced what, const adaptyst_path* path,
                                  uint64_t first, uint64_t second) noexcept {
  trace_entry* const entry = room_in(ring, 1);
  if (entry == nullptr) return;
  set_entry(*entry, what, path, first, second, thread);
  store_release(ring.head, ring.head + 1);
}

template <class = void>
inline void trace_operation(trace_ring& ring, const adaptyst_path* path, uint64_t submitted_ns, uint64_t started_ns,
                            uint64_t ended_ns, uint64_t queue, uint64_t thread) noexcept {
  trace_entry* const entry = room_in(ring, 2);
  if (entry == nullptr) return;
  set_entry(*entry, traced::operation, path, submitted_ns, started_ns, ended_ns);
  set_entry(ring.entries[(ring.head + 1) & (ring.capacity - 1)], traced::queue, nullptr, queue, 0, thread);
  store_release(ring.head, ring.head + 2);
}

}}}  // namespace adaptyst::v1::detail

#endif
