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
  static constexpr uint64_t narrow_width_ns = 50'000;

  // A command was enqueued between two readings of the host; `queued_ns` is the device's time. The width of this bracket
  // is the time between the readings. If the clock is not a host clock, a bracket narrower than `max_width_ns` becomes a
  // sync point, provided that it improves the conversion.
  template <class = void>
  void bracket(const host_times& before, const host_times& after, uint64_t queued_ns, uint64_t resolution_ns,
               uint64_t max_width_ns) noexcept {
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
    if (fits != clock_id::device || width_ns >= max_width_ns) return;
    if (!is_useful(before.of[0], width_ns)) {
      ++refused_brackets_;
      if (clock_.sync_points() != 1 || width_ns >= last_width_ns_ / 2) return;
      clock_ = device_clock{fits};  // replaces the only sync point, which is less accurate
      first_ns_ = last_ns_ = 0;
    }
    set_point(queued_ns, before.of[0] + width_ns / 2);
    last_width_ns_ = width_ns;
    refused_brackets_ = 0;
  }

  // True if a later bracket may exclude a clock: clocks that agree today may drift.
  bool is_ambiguous() const noexcept { return (fitting_ & (fitting_ - 1)) != 0; }
  // True if times can be converted.
  bool is_ready() const noexcept { return clock_.id() == clock_id::monotonic || clock_.sync_points() >= 2; }
  // The host's time of the last sync point; 0 without a sync point.
  uint64_t last_point_ns() const noexcept { return last_ns_; }
  // The width of the bracket that became the last sync point; 0 if set_point() set this point.
  uint64_t last_width_ns() const noexcept { return last_width_ns_; }
  bool is_host_clock() const noexcept { return clock_.id() != clock_id::unknown && clock_.id() != clock_id::device; }

  // For a clock that is not a host clock: at the device's `device_ns` it was `host_ns`. The clock ignores a point that is
  // not later than the last point.
  void set_point(uint64_t device_ns, uint64_t host_ns) noexcept {
    if (host_ns <= last_ns_) return;
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
  // The error of a sync point is at most half the width of its bracket. The errors of two successive points must add up
  // to less than 0.5 % of the time between them, because device_clock counts 1 % as a jump. With two points, the clock
  // can extrapolate, and only a narrow bracket improves it. On a busy host all brackets may be wide. Therefore each
  // refused bracket raises the limit for the next.
  bool is_useful(uint64_t now_ns, uint64_t width_ns) const noexcept {
    if (last_ns_ == 0) return true;
    if (now_ns <= last_ns_ || width_ns + last_width_ns_ >= (now_ns - last_ns_) / 100) return false;
    return clock_.sync_points() < 2 || width_ns < narrow_width_ns * (1 + refused_brackets_);
  }

  void note_point(uint64_t now_ns) noexcept {
    if (first_ns_ == 0) first_ns_ = now_ns;
    last_ns_ = now_ns;
  }

  unsigned fitting_ = (1U << host_times::clocks) - 1;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t last_width_ns_ = 0;
  uint64_t refused_brackets_ = 0;  // since the last sync point
  device_clock clock_{clock_id::unknown};
};

}}}}  // namespace adaptyst::v1::detail::opencl

#endif
