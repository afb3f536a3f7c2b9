// Finds the clock of an OpenCL device's profiling times: the host clock that matches them. OpenCL does not specify it.
#ifndef ADAPTYST_DETAIL_OPENCL_CLOCK_HPP
#define ADAPTYST_DETAIL_OPENCL_CLOCK_HPP

#include "../adapter/device_clock.hpp"

namespace adaptyst { inline namespace v1 { namespace detail { namespace opencl {

// All candidate clocks of the host, read as closely as possible; in the order of clock_id, from monotonic.
struct host_times {
  static constexpr unsigned clocks = 4;
  uint64_t of[clocks];
};

template <class = void>
host_times read_host_times() noexcept {
  return {{monotonic_ns(), read_clock(4), read_clock(0), read_clock(7)}};  // as in <time.h>
}

// Not thread-safe.
class fitted_clock {
 public:
  static constexpr uint64_t min_span_ns = 200'000;    // a shorter span gives no useful slope
  static constexpr uint64_t max_gap_ns = 10'000'000;  // between sync points
  // A bracket is wider than a clock reading, about 30 us.
  static constexpr uint64_t min_device_gap_ns = 4'000'000;

  // A command was enqueued between two readings of the host; `queued_ns` is the device's time. `is_point`: use it as a
  // sync point if the clock is not a host clock.
  template <class = void>
  void bracket(const host_times& before, const host_times& after, uint64_t queued_ns, uint64_t resolution_ns,
               bool is_point) noexcept {
    for (unsigned at = 0; at != host_times::clocks; ++at)
      if (queued_ns + resolution_ns < before.of[at] || queued_ns > after.of[at] + resolution_ns)
        fitting_ &= ~(1U << at);
    unsigned best = 0;
    while (best != host_times::clocks && (fitting_ & (1U << best)) == 0) ++best;
    const clock_id fits = best == host_times::clocks
                              ? clock_id::device
                              : static_cast<clock_id>(static_cast<uint32_t>(clock_id::monotonic) + best);
    if (fits != clock_.id()) {
      clock_ = device_clock{fits};
      first_ns_ = last_ns_ = 0;
      keep_synchronised(after.of[0]);
    }
    const uint64_t width_ns = after.of[0] - before.of[0];
    if (width_ns < narrowest_ns_) narrowest_ns_ = width_ns;
    const bool is_narrow = width_ns <= 2 * narrowest_ns_ + 20'000;  // the thread was not preempted in between
    const bool is_time = last_ns_ == 0 || before.of[0] - last_ns_ > min_device_gap_ns;
    if (fits == clock_id::device && is_point && is_narrow && is_time) set_point(queued_ns, before.of[0] + width_ns / 2);
  }

  // True if a later bracket may exclude a clock: clocks that agree today may drift.
  bool is_ambiguous() const noexcept { return (fitting_ & (fitting_ - 1)) != 0; }
  // True if times can be converted.
  bool is_ready() const noexcept { return clock_.id() == clock_id::monotonic || clock_.sync_points() >= 2; }
  bool is_host_clock() const noexcept { return clock_.id() != clock_id::unknown && clock_.id() != clock_id::device; }

  // For a clock that is not a host clock: at the device's `device_ns` it was `host_ns`.
  void set_point(uint64_t device_ns, uint64_t host_ns) noexcept {
    clock_.synchronise(device_ns, host_ns);
    note_point(host_ns);
  }

  // Takes a sync point if due; true if taken. The interval equals the span of existing points: extrapolation errors
  // stay within the error of readings.
  template <class = void>
  bool keep_synchronised(uint64_t now_ns) noexcept {
    if (!is_host_clock() || clock_.id() == clock_id::monotonic) return false;
    uint64_t gap = last_ns_ - first_ns_;
    if (gap < min_span_ns) gap = min_span_ns;
    if (gap > max_gap_ns) gap = max_gap_ns;
    if (first_ns_ != 0 && now_ns - last_ns_ < gap) return false;
    clock_.synchronise();
    note_point(now_ns);
    return true;
  }

  const device_clock& clock() const noexcept { return clock_; }

 private:
  void note_point(uint64_t now_ns) noexcept {
    if (first_ns_ == 0) first_ns_ = now_ns;
    last_ns_ = now_ns;
  }

  unsigned fitting_ = (1U << host_times::clocks) - 1;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t narrowest_ns_ = ~uint64_t{0} / 4;
  device_clock clock_{clock_id::unknown};
};

}}}}  // namespace adaptyst::v1::detail::opencl

#endif
