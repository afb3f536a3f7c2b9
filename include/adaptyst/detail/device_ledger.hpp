// What devices did, in bounded memory: how long each was busy, with what, and why it was idle.
//
// Operations are told when they are done, in whatever order. The last `window` of them are kept in the order in which
// they started; whichever leaves the window is swept into sums, so that an overlap is counted once and a gap is seen as
// one: with starts in order, a union of intervals is its sum and where it ends. So the sums are exact as long as no
// operation is told after `window` that started later; what still is, is counted as late, and enters only with the part
// after the sweep. That the host begins and stops to wait for devices are entries of the same window.
#ifndef ADAPTYST_DETAIL_DEVICE_LEDGER_HPP
#define ADAPTYST_DETAIL_DEVICE_LEDGER_HPP

#include <stddef.h>

#include "../histogram.h"
#include "atomic.hpp"
#include "system.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr size_t name_bytes_of_device = 40;
constexpr size_t most_devices = 63;
constexpr uint32_t most_queues = 64;

// A union of intervals that come in the order of their beginnings.
struct interval_union {
  uint64_t total_ns;
  uint64_t until_ns;  // where it ends

  ADAPTYST_DETAIL_INLINE void add(uint64_t begin_ns, uint64_t end_ns) noexcept {
    if (begin_ns < until_ns) begin_ns = until_ns;
    if (end_ns <= begin_ns) return;
    total_ns += end_ns - begin_ns;
    until_ns = end_ns;
  }
};

enum class device_work : uint32_t { kernel, copy, other, wait_begin, wait_end };

struct ledger_entry {
  uint64_t begin_ns, end_ns;
  uint64_t submitted_ns;  // 0: the host did it by itself, nothing was submitted
  uint64_t queue;
  uint32_t device;  // its number in the process, from 1
  device_work work;
};

// What clock a device's times come from, and how they were converted.
struct clock_account {
  uint32_t id;  // enum class clock_id
  uint32_t sync_points;
  int64_t offset_ns;  // CLOCK_MONOTONIC less the device's clock, when last looked at
  double drift_ppm;
  uint64_t residual_ns;  // by how much the last sync point was off what was expected
};

struct queue_account {
  uint64_t queue;
  uint64_t until_ns;  // when the last of its operations ended
};

struct device_sums {
  interval_union busy, kernels, copies, kernels_and_copies;
  uint64_t operations;
  uint64_t work_ns;            // sum of durations
  uint64_t queue_wait_ns;      // sum of submitted to started
  uint64_t launch_latency_ns;  // of these, with nothing before it in its queue
  uint64_t launch_idle_ns;     // nothing ran, though something had been submitted
  uint64_t awaited_ns;         // busy while the host waited
  uint64_t settled_ns;         // up to where awaited_ns has been summed
  uint64_t horizon_ns;         // what begins before this comes late
  uint64_t late;
  clock_account clock;
  uint64_t queue_count;
  queue_account queues[most_queues];
  uint64_t queue_waits[ADAPTYST_HISTOGRAM_BUCKETS];
  uint64_t launch_latencies[ADAPTYST_HISTOGRAM_BUCKETS];
};

struct device_entry {
  uint32_t state;  // 0 free, 1 being written, 2 ready
  uint32_t kind;
  uint32_t index;
  uint32_t pad;
  char name[name_bytes_of_device];
  device_sums sums;
};

// Of all devices of a process. Written under its lock.
struct device_ledger {
  static constexpr uint32_t window = 512;

  uint32_t lock;
  uint32_t first, count;  // of the window, a ring sorted by begin_ns
  uint32_t waiting;       // how many threads of the host wait for a device
  uint64_t sequence;      // odd while it is being written, for readers outside
  uint64_t epoch;         // of the collector for which it is kept
  uint64_t skipped;       // entries not booked because the lock could not be had in bounded time
  uint64_t horizon_ns;    // up to where the window has been swept
  uint64_t waiting_since_ns;
  uint64_t waited_ns;  // while any thread of the host waited
  uint64_t waits;
  interval_union busy;  // any device
  ledger_entry entries[window];
  device_entry devices[most_devices];  // by number less 1

  template <class = void>
  void add(ledger_entry one) noexcept {
    if (ADAPTYST_DETAIL_UNLIKELY(one.begin_ns < horizon_ns)) return add_late(one);
    if (count == window) {
      if (one.begin_ns < entries[first].begin_ns) return sweep(one);
      sweep(entries[first]);
      first = (first + 1) % window;
      --count;
    }
    uint32_t place = count++;
    for (; place != 0 && entries[(first + place - 1) % window].begin_ns > one.begin_ns; --place)
      entries[(first + place) % window] = entries[(first + place - 1) % window];
    entries[(first + place) % window] = one;
  }

  // For another collector. Which devices there are, and what they are called, stays.
  template <class = void>
  void begin(uint64_t new_epoch) noexcept {
    for (size_t at = 0; at != most_devices && load_acquire(devices[at].state) == 2; ++at)
      __builtin_memset(static_cast<void*>(&devices[at].sums), 0, sizeof devices[at].sums);
    first = count = waiting = 0;
    skipped = horizon_ns = waiting_since_ns = waited_ns = waits = 0;
    busy = {};
    epoch = new_epoch;
  }

  // Sweeps all there is; for a copy that is to be read.
  template <class = void>
  void settle(uint64_t now_ns) noexcept {
    for (; count != 0; --count, first = (first + 1) % window) sweep(entries[first % window]);
    settle_all(now_ns);
    if (waiting != 0 && now_ns > waiting_since_ns) waited_ns += now_ns - waiting_since_ns;
    waiting = 0;
  }

 private:
  // What lasted long on one device, while others did much, is in order there. In a device's own order, only what lies
  // after the sweep counts.
  template <class = void>
  ADAPTYST_DETAIL_COLD void add_late(ledger_entry one) noexcept {
    if (one.device == 0) {
      one.begin_ns = horizon_ns;
      return sweep(one);
    }
    device_sums& on = devices[one.device - 1].sums;
    if (one.begin_ns < on.horizon_ns) {
      ++on.late;
      one.begin_ns = on.horizon_ns;
      if (one.end_ns < one.begin_ns) one.end_ns = one.begin_ns;
      if (one.submitted_ns != 0) one.submitted_ns = one.begin_ns;
    }
    // Waits have been settled beyond its beginning. In an offload, the host waits all the time.
    if (one.submitted_ns == 0 && on.settled_ns > one.begin_ns && one.begin_ns >= on.busy.until_ns)
      on.awaited_ns += (one.end_ns < on.settled_ns ? one.end_ns : on.settled_ns) - one.begin_ns;
    book(on, one);
    busy.add(one.begin_ns, one.end_ns);
  }

  template <class = void>
  void sweep(const ledger_entry& one) noexcept {
    horizon_ns = one.begin_ns;
    if (one.work == device_work::wait_begin) {
      settle_all(one.begin_ns);
      ++waits;
      if (waiting++ == 0) waiting_since_ns = one.begin_ns;
    } else if (one.work == device_work::wait_end) {
      if (waiting == 0) return;  // of before the collector started
      settle_all(one.begin_ns);
      if (--waiting == 0) waited_ns += one.begin_ns - waiting_since_ns;
    } else {
      book(devices[one.device - 1].sums, one);
      busy.add(one.begin_ns, one.end_ns);
    }
  }

  template <class = void>
  void book(device_sums& on, const ledger_entry& one) noexcept {
    settle_device(on, one.begin_ns);
    on.horizon_ns = one.begin_ns;
    if (one.submitted_ns != 0) {
      const uint64_t wait_ns = one.begin_ns - one.submitted_ns;
      on.queue_wait_ns += wait_ns;
      ++on.queue_waits[adaptyst_histogram_bucket(wait_ns)];
      const uint64_t free_ns = occupy(on, one);
      const uint64_t able_ns = one.submitted_ns > free_ns ? one.submitted_ns : free_ns;
      const uint64_t latency_ns = one.begin_ns > able_ns ? one.begin_ns - able_ns : 0;
      on.launch_latency_ns += latency_ns;
      ++on.launch_latencies[adaptyst_histogram_bucket(latency_ns)];
      const uint64_t idle_from_ns = one.submitted_ns > on.busy.until_ns ? one.submitted_ns : on.busy.until_ns;
      if (one.begin_ns > idle_from_ns) on.launch_idle_ns += one.begin_ns - idle_from_ns;
    }
    ++on.operations;
    on.work_ns += one.end_ns - one.begin_ns;
    on.busy.add(one.begin_ns, one.end_ns);
    if (one.work == device_work::kernel) on.kernels.add(one.begin_ns, one.end_ns);
    if (one.work == device_work::copy) on.copies.add(one.begin_ns, one.end_ns);
    if (one.work != device_work::other) on.kernels_and_copies.add(one.begin_ns, one.end_ns);
  }

  // When the queue of an operation was free for it. All queues after the first 63 share an account.
  template <class = void>
  uint64_t occupy(device_sums& on, const ledger_entry& one) noexcept {
    uint64_t at = 0;
    while (at != on.queue_count && on.queues[at].queue != one.queue) ++at;
    if (at == on.queue_count && on.queue_count != most_queues) {
      on.queues[at] = {one.queue, 0};
      ++on.queue_count;
    }
    queue_account& queue = on.queues[at == most_queues ? most_queues - 1 : at];
    const uint64_t free_ns = queue.until_ns;
    if (one.end_ns > free_ns) queue.until_ns = one.end_ns;
    return free_ns;
  }

  // Up to a moment before which nothing more will come, while `waiting` was as it is.
  ADAPTYST_DETAIL_INLINE void settle_device(device_sums& on, uint64_t now_ns) noexcept {
    const uint64_t until = on.busy.until_ns < now_ns ? on.busy.until_ns : now_ns;
    if (waiting != 0 && until > on.settled_ns) on.awaited_ns += until - on.settled_ns;
    if (now_ns > on.settled_ns) on.settled_ns = now_ns;
  }

  template <class = void>
  void settle_all(uint64_t now_ns) noexcept {
    for (size_t at = 0; at != most_devices && load_acquire(devices[at].state) == 2; ++at)
      settle_device(devices[at].sums, now_ns);
  }
};

// Whoever holds the lock may have lost its processor, perhaps to us: it is given one. Gives up after some milliseconds.
template <class = void>
ADAPTYST_DETAIL_COLD inline bool lock_slowly(uint32_t& lock) noexcept {
  constexpr unsigned spins = 200, yields = 2000;
  for (unsigned attempt = 0; attempt != spins + yields; ++attempt) {
    uint32_t free = 0;
    if (load(lock) == 0 && compare_exchange(lock, free, uint32_t{1})) return true;
    if (attempt >= spins) system::call(__NR_sched_yield);
  }
  return false;
}

// Runs `change(ledger)` with the ledger to itself, begun anew for a new collector's epoch; not if that is over. Gives up,
// and counts it, rather than wait on a holder that sleeps.
template <class Change>
bool with_ledger(device_ledger& in, uint64_t epoch, Change&& change) noexcept {
  uint32_t free = 0;
  if (ADAPTYST_DETAIL_UNLIKELY(!compare_exchange(in.lock, free, uint32_t{1})) && !lock_slowly(in.lock)) {
    fetch_add(in.skipped, 1);
    return false;
  }
  bump(in.sequence, 1);
  fence_release();
  if (ADAPTYST_DETAIL_UNLIKELY(in.epoch < epoch)) in.begin(epoch);
  if (ADAPTYST_DETAIL_LIKELY(in.epoch == epoch)) change(in);
  bump_release(in.sequence, 1);
  store_release(in.lock, 0);
  return true;
}

}}}  // namespace adaptyst::v1::detail

#endif
