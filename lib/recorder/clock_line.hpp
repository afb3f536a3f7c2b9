// Calibrates the processor's counter against CLOCK_MONOTONIC.
#ifndef ADAPTYST_LIB_RECORDER_CLOCK_LINE_HPP
#define ADAPTYST_LIB_RECORDER_CLOCK_LINE_HPP

#include <cstdint>

#include <adaptyst/detail/clock.hpp>

namespace adaptyst::lib {

// One instant on both clocks.
struct clock_pair {
  std::uint64_t ticks, ns;
};
clock_pair read_clock_pair() noexcept;

// How far apart the ends of a line are at least: for an error below 20 ppm; for one of 3 ppm, where a start may take
// longer.
constexpr std::uint64_t quick_baseline_ns = 3'000'000, steady_baseline_ns = 20'000'000;

// The line through `earlier` and now, waiting until they are far enough apart. All zeros, which means CLOCK_MONOTONIC,
// where the counter does not run at a constant rate.
detail::clock_line calibrate(clock_pair earlier, std::uint64_t baseline_ns = quick_baseline_ns) noexcept;

}  // namespace adaptyst::lib

#endif
