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

// A time in the clock of a process that is ahead of ours (find_clock_lead_ns()), and one in ours in its clock.
std::uint64_t from_its_clock(std::uint64_t its_ns, std::int64_t lead_ns) noexcept;
std::uint64_t to_its_clock(std::uint64_t our_ns, std::int64_t lead_ns) noexcept;

// The line that another process has, to our clock. An observer has given it a line to the observer's clock, its own collector one
// to its own clock: `now` shows which.
detail::clock_line in_our_clock(detail::clock_line line, std::int64_t lead_ns, clock_pair now) noexcept;

}  // namespace adaptyst::lib

#endif
