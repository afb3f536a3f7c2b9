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

// The line through `earlier` and now. Waits until the two are far enough apart for an error below 20 ppm. All zeros,
// which means CLOCK_MONOTONIC, if the counter does not run at a constant rate.
detail::clock_line calibrate(clock_pair earlier) noexcept;

// Converts a time from the clock of a process that is ahead of this one (find_clock_lead_ns()), and back.
std::uint64_t from_process_clock(std::uint64_t process_ns, std::int64_t lead_ns) noexcept;
std::uint64_t to_process_clock(std::uint64_t our_ns, std::int64_t lead_ns) noexcept;

// Converts the line of another process to this process's clock. An observer gives it a line to the observer's clock, a
// collector in that process a line to the process's clock: `now` shows which.
detail::clock_line in_our_clock(detail::clock_line line, std::int64_t lead_ns, clock_pair now) noexcept;

}  // namespace adaptyst::lib

#endif
