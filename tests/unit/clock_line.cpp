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

TEST_CASE("times of a clock that is ahead or behind are converted both ways") {
  using adaptyst::lib::from_process_clock;
  using adaptyst::lib::to_process_clock;
  for (const std::int64_t lead_ns : {std::int64_t{0}, std::int64_t{100}, std::int64_t{-100}}) {
    CAPTURE(lead_ns);
    CHECK(to_process_clock(1000, lead_ns) == static_cast<std::uint64_t>(1000 + lead_ns));
    CHECK(from_process_clock(to_process_clock(1000, lead_ns), lead_ns) == 1000);
  }
  CHECK(from_process_clock(99, 100) == 0);  // before this clock began
}

TEST_CASE("a line that another process has is converted to our clock, whoever has made it") {
  using adaptyst::lib::in_our_clock;
  constexpr std::int64_t lead_ns = 300'000'000'000;
  const clock_pair now{1'000'000, 400'000'000'000};
  const detail::clock_line ours{std::uint64_t{1} << 32, now.ticks - 500, now.ns - 700};  // has drifted by 200 ns
  detail::clock_line process_line = ours;
  process_line.base_ns += lead_ns;
  CHECK(in_our_clock(ours, lead_ns, now).base_ns == ours.base_ns);
  CHECK(in_our_clock(process_line, lead_ns, now).base_ns == ours.base_ns);
  process_line.base_ns = ours.base_ns - lead_ns;
  CHECK(in_our_clock(process_line, -lead_ns, now).base_ns == ours.base_ns);
  CHECK(in_our_clock({0, 1, 2}, lead_ns, now).base_ns == 2);
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
  // Each of three readings may be off by as much as one takes, of the slope's over 3 ms; what takes a processor away
  // shows in both clocks. 20 ppm of 50 ms are 1 us.
  CHECK(error_at(line, later) < 20'000);
}
