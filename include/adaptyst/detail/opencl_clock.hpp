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
  static constexpr uint64_t usual_width_ns = 50'000;  // of a bracket

  // A command was enqueued between two readings of the host; `queued_ns` is the device's time. If the clock is not a
  // host clock, this is a sync point if the readings are less than `max_width_ns` apart, and is_useful() permits it.
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
      ++refused_;
      if (clock_.sync_points() != 1 || width_ns >= last_width_ns_ / 2) return;
      clock_ = device_clock{fits};  // the only point was much worse
      first_ns_ = last_ns_ = 0;
    }
    set_point(queued_ns, before.of[0] + width_ns / 2);
    last_width_ns_ = width_ns;
    refused_ = 0;
  }

  // True if a later bracket may exclude a clock: clocks that agree today may drift.
  bool is_ambiguous() const noexcept { return (fitting_ & (fitting_ - 1)) != 0; }
  // True if times can be converted.
  bool is_ready() const noexcept { return clock_.id() == clock_id::monotonic || clock_.sync_points() >= 2; }
  uint64_t last_point_ns() const noexcept { return last_ns_; }  // the host's time; 0 without a sync point
  // Of the last sync point; 0 if it is no bracket.
  uint64_t last_width_ns() const noexcept { return last_width_ns_; }
  bool is_host_clock() const noexcept { return clock_.id() != clock_id::unknown && clock_.id() != clock_id::device; }

  // For a clock that is not a host clock: at the device's `device_ns` it was `host_ns`. A point that is not after the
  // last one is ignored.
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
  // A point may be wrong by half of its width. The errors of two neighbours must be less than 0.5 % of the time between
  // them, since 1 % appears as a jump. From several points, times can be extrapolated, so that only a narrow bracket
  // helps. On a busy host there may be none: each refused one permits a wider one.
  bool is_useful(uint64_t now_ns, uint64_t width_ns) const noexcept {
    if (last_ns_ == 0) return true;
    if (now_ns <= last_ns_ || width_ns + last_width_ns_ >= (now_ns - last_ns_) / 100) return false;
    return clock_.sync_points() < 2 || width_ns < usual_width_ns * (1 + refused_);
  }

  void note_point(uint64_t now_ns) noexcept {
    if (first_ns_ == 0) first_ns_ = now_ns;
    last_ns_ = now_ns;
  }

  unsigned fitting_ = (1U << host_times::clocks) - 1;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t last_width_ns_ = 0;
  uint64_t refused_ = 0;  // brackets since the last sync point
  device_clock clock_{clock_id::unknown};
};

}}}}  // namespace adaptyst::v1::detail::opencl

#endif
