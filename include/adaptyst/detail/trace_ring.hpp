// A ring of timeline events per thread, written by the thread and read by the collector or observer.
//
// A full ring counts new events as lost; sums of the profile are unaffected. Regions with event sampling have no
// entries, because skipped events would appear as idle time. Cost: two or three stores per event; none without a
// timeline.
#ifndef ADAPTYST_DETAIL_TRACE_RING_HPP
#define ADAPTYST_DETAIL_TRACE_RING_HPP

#include "../probe_abi.h"
#include "atomic.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// The kind of an entry, which defines its numbers. Stored in the lowest bits of the path's address.
enum class traced : uint64_t {
  scope,          // begin, end: timestamps; thread. Scopes nest
  handle,         // begin, end: timestamps; thread that ended it
  operation,      // submitted, started, ended: CLOCK_MONOTONIC; the next entry is its `queue`
  queue,          // number of the queue, unused, thread that submitted
  metric,         // timestamp, bits of the value, thread
  instant_event,  // timestamp, unused, thread
};
constexpr uint64_t traced_bits = 7;

struct trace_entry {
  uint64_t path_and_what;
  uint64_t numbers[3];
};

struct trace_ring {
  uint64_t head;         // total entries written
  uint64_t tail_seen;    // the writer's copy of the tail
  uint64_t capacity;     // a power of two; 0: no memory
  uint64_t first;        // entries of earlier collectors
  uint64_t lost;         // lost for this collector
  const uint64_t* tail;  // entries read, written by the reader; see observer_settings.hpp
  uint64_t sampled_out;  // for this collector: events of sampled regions, estimated from recorded events
  uint64_t pad;
  trace_entry entries[1];  // `capacity` elements
};

constexpr uint64_t ring_bytes(uint64_t capacity) noexcept {
  return sizeof(trace_ring) + capacity * sizeof(trace_entry);
}

// Room for `wanted` entries; null if full.
template <class = void>
ADAPTYST_DETAIL_INLINE trace_entry* room_in(trace_ring& ring, uint64_t wanted) noexcept {
  if (ADAPTYST_DETAIL_UNLIKELY(ring.head + wanted - ring.tail_seen > ring.capacity)) {
    const uint64_t tail = load_acquire(*ring.tail);
    // A tail outside the ring is invalid, and ignored.
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
