// Converts a device's times to CLOCK_MONOTONIC.
//
//   adaptyst::device_clock clock{adaptyst::clock_id::device};
//   clock.synchronise(device_ns, host_ns);           // a sync point: both clocks at one instant; call it often
//   std::uint64_t started_ns;
//   if (!clock.to_monotonic(device_started_ns, started_ns)) op.abandon(adaptyst::operation_loss::unknown_clock);
//
// It interpolates between sync points, and extrapolates with the slope of the last 16. With fewer than two points, or
// an unknown clock, it converts nothing. The error between points is at most the duration of a reading. Beyond them,
// drift accumulates: synchronise every second. If the clock jumps (a rate over 1 % off the host's, or a step
// backwards), it restarts there and counts the jump.
//
// Not thread-safe. A conversion takes about 20 ns; synchronise() with a clock of the host 0.5 us (five readings of two
// clocks).
#ifndef ADAPTYST_ADAPTER_DEVICE_CLOCK_HPP
#define ADAPTYST_ADAPTER_DEVICE_CLOCK_HPP

#include "../detail/clock.hpp"
#include "../detail/device.hpp"
#ifndef ADAPTYST_DISABLE
#include "../detail/device_id.hpp"
#include "../detail/recorder.hpp"
#include "../detail/site.hpp"
#endif

namespace adaptyst { inline namespace v1 {

class device_clock {
 public:
  static constexpr unsigned max_points = 16;

  explicit constexpr device_clock(clock_id id) noexcept : id_(id) {}

  constexpr clock_id id() const noexcept { return id_; }
  constexpr unsigned sync_points() const noexcept { return count_; }

  // At `device_ns` of the device, CLOCK_MONOTONIC was `host_ns`. Points must be in order of time; a repeated point is
  // ignored.
  void synchronise(uint64_t device_ns, uint64_t host_ns) noexcept {
    if (id_ == clock_id::unknown) return;
    if (count_ != 0) {
      const point& last = points_[count_ - 1];
      if (device_ns == last.device_ns || host_ns == last.host_ns) return;
      const double rate = difference(host_ns, last.host_ns) / difference(device_ns, last.device_ns);
      if (!(rate > 0.99 && rate < 1.01) || host_ns < last.host_ns) {
        ++jumps_;
        count_ = 0;
      }
    }
    if (count_ >= 2) {
      const double off = difference(converted(device_ns), host_ns);
      residual_ns_ = static_cast<uint64_t>(off < 0 ? -off : off);
    }
    if (count_ == max_points) {
      for (unsigned at = 1; at != max_points; ++at) points_[at - 1] = points_[at];
      --count_;
    }
    points_[count_++] = {device_ns, host_ns};
  }

  // Measures a point; false if the clock is not a clock of the host.
  template <class = void>
  bool synchronise() noexcept {
    int of_host;
    switch (id_) {
      case clock_id::monotonic: return true;
      case clock_id::monotonic_raw: of_host = 4; break;
      case clock_id::realtime: of_host = 0; break;
      case clock_id::boottime: of_host = 7; break;
      default: return false;
    }
    uint64_t least = ~uint64_t{0};
    uint64_t device_ns = 0;
    uint64_t host_ns = 0;
    for (unsigned attempt = 0; attempt != 5; ++attempt) {  // keeps the closest bracket
      const uint64_t before = detail::monotonic_ns();
      const uint64_t between = detail::read_clock(of_host);
      const uint64_t after = detail::monotonic_ns();
      if (after - before >= least) continue;
      least = after - before;
      device_ns = between;
      host_ns = before + least / 2;
    }
    synchronise(device_ns, host_ns);
    return true;
  }

  // False if the clock is unknown, it has fewer than two sync points, or `device_ns` is 0 or over 104 days from the
  // last point.
  bool to_monotonic(uint64_t device_ns, uint64_t& monotonic_ns) const noexcept {
    if (device_ns == 0) return false;
    if (id_ == clock_id::monotonic) {
      monotonic_ns = device_ns;
      return true;
    }
    if (count_ < 2) return false;
    const double away = difference(device_ns, points_[count_ - 1].device_ns);
    if (!(away > -max_ns && away < max_ns)) return false;
    monotonic_ns = converted(device_ns);
    return true;
  }

  // CLOCK_MONOTONIC less this clock at the last sync point; 0 without one.
  int64_t offset_ns() const noexcept {
    return count_ == 0 ? 0 : static_cast<int64_t>(points_[count_ - 1].host_ns - points_[count_ - 1].device_ns);
  }
  // How much faster CLOCK_MONOTONIC runs, in ppm; 0 with fewer than two sync points.
  double drift_ppm() const noexcept { return (slope(0, count_ == 0 ? 0 : count_ - 1) - 1) * 1e6; }
  // Error of the prediction of the last sync point.
  uint64_t residual_ns() const noexcept { return residual_ns_; }
  unsigned jumps() const noexcept { return jumps_; }

 private:
  struct point {
    uint64_t device_ns, host_ns;
  };
  static constexpr double max_ns = 9e15;  // 104 days: the largest exact integers in a double

  static double difference(uint64_t a, uint64_t b) noexcept { return static_cast<double>(static_cast<int64_t>(a - b)); }

  double slope(unsigned from, unsigned last) const noexcept {
    if (from >= last) return 1;
    return difference(points_[last].host_ns, points_[from].host_ns) /
           difference(points_[last].device_ns, points_[from].device_ns);
  }

  uint64_t converted(uint64_t device_ns) const noexcept {
    unsigned next = 0;
    while (next != count_ && points_[next].device_ns < device_ns) ++next;
    const bool between = next != 0 && next != count_;
    const point& near = points_[next == 0 ? 0 : next - 1];
    const double rate = between ? slope(next - 1, next) : slope(0, count_ - 1);
    const double past = difference(device_ns, near.device_ns) * rate;
    return near.host_ns + static_cast<uint64_t>(static_cast<int64_t>(past));
  }

  clock_id id_;
  unsigned count_ = 0;
  unsigned jumps_ = 0;
  uint64_t residual_ns_ = 0;
  point points_[max_points]{};
};

// Reports the clock of a device and its conversion; the last call applies.
#ifdef ADAPTYST_DISABLE
template <class = void>
void report_clock(const device&, const device_clock&) noexcept {}
#else
template <class = void>
void report_clock(const device& device, const device_clock& clock) noexcept {
  if (!detail::is_enabled()) return;
  const uint32_t id = device_access::get_id(device);
  detail::recorder* const opened = detail::open_recorder();
  if (opened == nullptr || id == 0 || id > detail::max_devices) return;
  const detail::writing now(*opened);
  detail::with_activity_buffer(opened->owner->store->activity, opened->epoch, [&](detail::device_activity_buffer& all) {
    all.report_clock(id, {static_cast<uint32_t>(clock.id()), clock.sync_points(), clock.offset_ns(), clock.drift_ppm(),
                          clock.residual_ns()});
  });
}
#endif

}}  // namespace adaptyst::v1

#endif
