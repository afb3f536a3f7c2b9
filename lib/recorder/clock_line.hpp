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

// The line through `earlier` and now, waiting until they are far enough apart for an error below 20 ppm. All zeros, which
// means CLOCK_MONOTONIC, where the counter does not run at a constant rate.
detail::clock_line calibrate(clock_pair earlier) noexcept;

}  // namespace adaptyst::lib

#endif
