// The processor's counter against CLOCK_MONOTONIC: what is converted must be what the clock itself says.
#include "recorder/clock_line.hpp"

#include <time.h>

#include <cstdint>
#include <cstdlib>

#include "catch.hpp"

using adaptyst::lib::calibrate;
using adaptyst::lib::clock_pair;
using adaptyst::lib::read_clock_pair;
namespace detail = adaptyst::detail;

namespace {

// By how much the line is off at an instant.
std::uint64_t error_at(const detail::clock_line& line, const clock_pair& instant) {
  const auto off = static_cast<std::int64_t>(detail::to_monotonic_ns(line, instant.ticks) - instant.ns);
  return static_cast<std::uint64_t>(std::llabs(off));
}

}  // namespace

TEST_CASE("a line leads from ticks to nanoseconds") {
  const detail::clock_line line{std::uint64_t{3} << 31, 1000, 50'000};  // 1.5 ns a tick
  CHECK(detail::to_monotonic_ns(line, 1000) == 50'000);
  CHECK(detail::to_monotonic_ns(line, 1100) == 50'150);
  CHECK(detail::to_duration_ns(line, 10) == 15);
  CHECK(detail::to_monotonic_ns({}, 1234) == 1234);
  CHECK(detail::to_duration_ns({}, 1234) == 1234);
}

TEST_CASE("a calibrated line says what the clock says, now and 50 ms later") {
  const clock_pair earlier = read_clock_pair();
  const detail::clock_line line = calibrate(earlier);
  if (line.ns_per_tick == 0) {
    WARN("the counter does not run at a constant rate here");
    return;
  }
  CHECK(line.base_ns - earlier.ns >= 3'000'000);
  // It goes through both.
  CHECK(detail::to_monotonic_ns(line, line.base_ticks) == line.base_ns);
  const std::uint64_t between_ns = detail::to_duration_ns(line, line.base_ticks - earlier.ticks);
  CHECK(line.base_ns - earlier.ns - between_ns < 2);
  const timespec rest{0, 50'000'000};
  nanosleep(&rest, nullptr);
  const clock_pair later = read_clock_pair();
  // Each of three readings may be off by as much as one takes, of the slope's over 3 ms; what takes a processor away shows
  // in both clocks. 20 ppm of 50 ms are 1 us.
  CHECK(error_at(line, later) < 20'000);
}
