// Converts readings of the processor's counter to CLOCK_MONOTONIC, by interpolation between readings of both clocks, so
// that the error does not grow.
#ifndef ADAPTYST_LIB_RECORDER_CLOCK_TRACK_HPP
#define ADAPTYST_LIB_RECORDER_CLOCK_TRACK_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clock_line.hpp"

namespace adaptyst::lib {

// A calibrated line has an error of a few ppm, which is milliseconds in an hour, and the system clock is adjusted in
// the meantime. This does not matter for durations, but for timestamps that are compared with those of other clocks.
// For these, the line goes from point to point.
class clock_track {
 public:
  // The line of a process; its base is the first point. Later calls change nothing.
  void start(const detail::clock_line& line);
  // A later reading of both clocks. An earlier one is ignored.
  void add(clock_pair point);

  // A timestamp from before the last point always gets the same time, until points are removed: that moves it by less
  // than the error of a point. If the counter is not used, a timestamp already is the time.
  std::uint64_t monotonic_ns(std::uint64_t timestamp) const noexcept;

  static constexpr std::size_t max_points = 1 << 15;

 private:
  std::uint64_t ns_per_tick_ = 0;  // times 2^32, before the first point and after the last
  std::vector<clock_pair> points_;
};

}  // namespace adaptyst::lib

#endif
