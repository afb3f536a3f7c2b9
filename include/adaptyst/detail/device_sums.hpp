// Sums of device activity: busy time, its kinds, and causes of idle time.
//
// Operations, and begins and ends of host waits, are swept in order of their starts. Each overlap then counts once, and
// a union needs only its sum and end. device_activity.hpp stores entries until then. An operation out of order is
// counted as late; only its part after the sweep is added.
#ifndef ADAPTYST_DETAIL_DEVICE_SUMS_HPP
#define ADAPTYST_DETAIL_DEVICE_SUMS_HPP

#include <stddef.h>

#include "atomic.hpp"
#include "histogram.h"

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr uint32_t max_devices = 63;
constexpr uint32_t max_queues = 64;

// A union of intervals that arrive in order of their begins.
struct interval_union {
  uint64_t total_ns;
  uint64_t until_ns;  // its end

  ADAPTYST_DETAIL_INLINE void add(uint64_t begin_ns, uint64_t end_ns) noexcept {
    if (begin_ns < until_ns) begin_ns = until_ns;
    if (end_ns <= begin_ns) return;
    total_ns += end_ns - begin_ns;
    until_ns = end_ns;
  }
};

enum class device_work : uint32_t { kernel, copy, other, wait_begin, wait_end };

struct activity_entry {
  uint64_t begin_ns, end_ns;
  uint64_t submitted_ns;  // 0: no submission, the host did it
  uint64_t queue;
  uint32_t device;  // number in the process, from 1
  device_work work;
};

struct queue_account {
  uint64_t queue;
  uint64_t until_ns;  // end of its last operation
};

struct device_sums {
  interval_union busy, kernels, copies, kernels_and_copies;
  uint64_t operations;
  uint64_t work_ns;            // sum of durations
  uint64_t queue_wait_ns;      // sum of submitted to started
  uint64_t launch_latency_ns;  // part of queue_wait_ns with a free queue
  uint64_t launch_idle_ns;     // nothing ran, though an operation was submitted
  uint64_t host_waiting_ns;    // busy while the host waited
  uint64_t settled_ns;         // host_waiting_ns is summed up to here
  uint64_t horizon_ns;         // an earlier begin is late
  uint64_t late;
  uint64_t unplaced;  // operations with unknown overlap with waits
  uint64_t first_ns;  // the first submission; 0: none
  uint64_t queue_count;
  queue_account queues[max_queues];
  uint64_t queue_waits[ADAPTYST_HISTOGRAM_BUCKETS];
  uint64_t launch_latencies[ADAPTYST_HISTOGRAM_BUCKETS];
};

// All devices of a process, for one collector.
struct activity_sums {
  uint64_t horizon_ns;        // end of the sweep
  uint64_t device_count;      // highest device number swept
  uint64_t waits_changed_ns;  // last begin or end of a host wait
  uint64_t waiting;           // host threads that wait for a device
  uint64_t waiting_since_ns;
  uint64_t waited_ns;  // time in which any host thread waited
  uint64_t waits;
  interval_union busy;               // any device
  uint64_t unplaced;                 // operations that are not completely in it
  device_sums devices[max_devices];  // by number less 1; undefined from `device_count` on

  // Used bytes.
  size_t used_bytes() const noexcept { return offsetof(activity_sums, devices) + device_count * sizeof(device_sums); }

  template <class = void>
  void add(const activity_entry& entry) noexcept {
    while (device_count < entry.device) {
      device_sums& next = devices[device_count++];
      __builtin_memset(static_cast<void*>(&next), 0, sizeof next);
      next.settled_ns = waits_changed_ns;
    }
    if (ADAPTYST_DETAIL_UNLIKELY(entry.begin_ns < horizon_ns)) return add_late(entry);
    sweep(entry);
  }

  // Adds work that is still running; only for a copy that is read next.
  template <class = void>
  void settle(uint64_t now_ns) noexcept {
    settle_all(now_ns);
    if (waiting != 0 && now_ns > waiting_since_ns) waited_ns += now_ns - waiting_since_ns;
    waiting = 0;
  }

 private:
  // A long operation may be late for the global sweep but in order on its device. Otherwise only its part after that
  // device's sweep counts.
  template <class = void>
  ADAPTYST_DETAIL_COLD void add_late(activity_entry entry) noexcept {
    if (entry.device == 0) {
      entry.begin_ns = horizon_ns;
      return sweep(entry);
    }
    device_sums& on = devices[entry.device - 1];
    if (entry.begin_ns < on.horizon_ns) {
      ++on.late;
      entry.begin_ns = on.horizon_ns;
      if (entry.end_ns < entry.begin_ns) entry.end_ns = entry.begin_ns;
      if (entry.submitted_ns != 0) entry.submitted_ns = entry.begin_ns;
    }
    // Waits are already summed beyond the begin of this operation. In an offload, the host waits all the time.
    const uint64_t until_ns = entry.end_ns < on.settled_ns ? entry.end_ns : on.settled_ns;
    if (until_ns > entry.begin_ns) {
      if (entry.submitted_ns == 0 && entry.begin_ns >= on.busy.until_ns)
        on.host_waiting_ns += until_ns - entry.begin_ns;
      else ++on.unplaced;
    }
    if (entry.begin_ns < busy.until_ns) ++unplaced;
    book(on, entry);
    busy.add(entry.begin_ns, entry.end_ns);
  }

  template <class = void>
  void sweep(const activity_entry& entry) noexcept {
    horizon_ns = entry.begin_ns;
    if (entry.work == device_work::wait_begin) {
      settle_all(entry.begin_ns);
      ++waits;
      if (waiting++ == 0) waiting_since_ns = entry.begin_ns;
    } else if (entry.work == device_work::wait_end) {
      if (waiting == 0) return;  // began before the collector started
      settle_all(entry.begin_ns);
      if (--waiting == 0) waited_ns += entry.begin_ns - waiting_since_ns;
    } else {
      book(devices[entry.device - 1], entry);
      busy.add(entry.begin_ns, entry.end_ns);
    }
  }

  template <class = void>
  void book(device_sums& on, const activity_entry& entry) noexcept {
    settle_device(on, entry.begin_ns);
    on.horizon_ns = entry.begin_ns;
    const uint64_t submitted_ns = entry.submitted_ns != 0 ? entry.submitted_ns : entry.begin_ns;
    if (on.first_ns == 0 || submitted_ns < on.first_ns) on.first_ns = submitted_ns;
    if (entry.submitted_ns != 0) {
      const uint64_t wait_ns = entry.begin_ns - entry.submitted_ns;
      on.queue_wait_ns += wait_ns;
      ++on.queue_waits[adaptyst_histogram_bucket(wait_ns)];
      const uint64_t free_ns = occupy(on, entry);
      const uint64_t able_ns = entry.submitted_ns > free_ns ? entry.submitted_ns : free_ns;
      const uint64_t latency_ns = entry.begin_ns > able_ns ? entry.begin_ns - able_ns : 0;
      on.launch_latency_ns += latency_ns;
      ++on.launch_latencies[adaptyst_histogram_bucket(latency_ns)];
      const uint64_t idle_from_ns = entry.submitted_ns > on.busy.until_ns ? entry.submitted_ns : on.busy.until_ns;
      if (entry.begin_ns > idle_from_ns) on.launch_idle_ns += entry.begin_ns - idle_from_ns;
    }
    ++on.operations;
    on.work_ns += entry.end_ns - entry.begin_ns;
    on.busy.add(entry.begin_ns, entry.end_ns);
    if (entry.work == device_work::kernel) on.kernels.add(entry.begin_ns, entry.end_ns);
    if (entry.work == device_work::copy) on.copies.add(entry.begin_ns, entry.end_ns);
    if (entry.work != device_work::other) on.kernels_and_copies.add(entry.begin_ns, entry.end_ns);
  }

  // Time at which the queue of an operation became free. Queues after the first 63 share an account.
  template <class = void>
  uint64_t occupy(device_sums& on, const activity_entry& entry) noexcept {
    uint64_t at = 0;
    while (at != on.queue_count && on.queues[at].queue != entry.queue) ++at;
    if (at == on.queue_count && on.queue_count != max_queues) {
      on.queues[at] = {entry.queue, 0};
      ++on.queue_count;
    }
    queue_account& queue = on.queues[at == max_queues ? max_queues - 1 : at];
    const uint64_t free_ns = queue.until_ns;
    if (entry.end_ns > free_ns) queue.until_ns = entry.end_ns;
    return free_ns;
  }

  // Adds the host's waits for this device up to `now_ns`; `waiting` is unchanged since the last call.
  ADAPTYST_DETAIL_INLINE void settle_device(device_sums& on, uint64_t now_ns) noexcept {
    const uint64_t until = on.busy.until_ns < now_ns ? on.busy.until_ns : now_ns;
    if (waiting != 0 && until > on.settled_ns) on.host_waiting_ns += until - on.settled_ns;
    if (now_ns > on.settled_ns) on.settled_ns = now_ns;
  }

  template <class = void>
  void settle_all(uint64_t now_ns) noexcept {
    waits_changed_ns = now_ns;
    for (size_t at = 0; at != device_count; ++at) settle_device(devices[at], now_ns);
  }
};

}}}  // namespace adaptyst::v1::detail

#endif
