// Times that the processor's counter gave, where the line that was calibrated has drifted off the system's clock.
#include "recorder/clock_track.hpp"

#include <cstdint>

#include "catch.hpp"

using adaptyst::lib::clock_pair;
using adaptyst::lib::clock_track;
namespace detail = adaptyst::detail;

namespace {

constexpr detail::clock_line two_ticks_a_ns{std::uint64_t{1} << 31, 1000, 5'000'000};

// The system's clock runs 100 ppm faster than the line says.
clock_pair in_truth(std::uint64_t after_ns) { return {1000 + 2 * after_ns, 5'000'000 + after_ns + after_ns / 10'000}; }

}  // namespace

TEST_CASE("what is not calibrated is CLOCK_MONOTONIC already") {
  clock_track track;
  CHECK(track.monotonic_ns(1234) == 1234);
  track.start({});
  track.add({100, 7});
  CHECK(track.monotonic_ns(1234) == 1234);
}

TEST_CASE("with one point, times are on the line") {
  clock_track track;
  track.start(two_ticks_a_ns);
  track.start({1, 2, 3});  // of a process that lies
  CHECK(track.monotonic_ns(1000) == 5'000'000);
  CHECK(track.monotonic_ns(1200) == 5'000'100);
  CHECK(track.monotonic_ns(800) == 4'999'900);
  track.start(two_ticks_a_ns);
  CHECK(track.monotonic_ns(1200) == 5'000'100);
}

TEST_CASE("an hour later, times are as near to the system's clock as at first") {
  clock_track track;
  track.start(two_ticks_a_ns);
  constexpr std::uint64_t hour = 3'600'000'000'000;
  CHECK(in_truth(hour).ns - track.monotonic_ns(in_truth(hour).ticks) == hour / 10'000);
  track.add(in_truth(hour));
  track.add(in_truth(hour + 5'000'000));
  track.add(in_truth(hour + 10'000'000));
  for (const std::uint64_t at :
       {std::uint64_t{0}, hour / 7, hour, hour + 2'500'000, hour + 7'700'000, hour + 10'000'000}) {
    CAPTURE(at);
    CHECK(in_truth(at).ns - track.monotonic_ns(in_truth(at).ticks) <= 1);
  }
  // From the last point on, it is the line's pace again.
  CHECK(in_truth(hour + 20'000'000).ns - track.monotonic_ns(in_truth(hour + 20'000'000).ticks) <= 1001);
}

TEST_CASE("what was before the last point keeps its time, and later ticks are later") {
  clock_track track;
  track.start(two_ticks_a_ns);
  track.add({3000, 5'001'500});  // half as fast again for a while
  track.add({5000, 5'001'600});
  CHECK(track.monotonic_ns(2000) == 5'000'750);
  CHECK(track.monotonic_ns(4000) == 5'001'550);
  track.add({4000, 5'009'000});  // neither later
  track.add({6000, 5'001'599});  // nor back in time
  track.add({9000, 5'009'000});
  CHECK(track.monotonic_ns(2000) == 5'000'750);
  CHECK(track.monotonic_ns(4000) == 5'001'550);
  CHECK(track.monotonic_ns(7000) == 5'005'300);
  std::uint64_t before = 0;
  for (std::uint64_t ticks = 0; ticks < 12'000; ticks += 7) {
    const std::uint64_t ns = track.monotonic_ns(ticks);
    REQUIRE(ns >= before);
    before = ns;
  }
}

TEST_CASE("points do not grow without end, and the old ones remain good") {
  clock_track track;
  track.start(two_ticks_a_ns);
  constexpr std::uint64_t interval_ns = 5'000'000;
  constexpr std::uint64_t points = 3 * clock_track::max_points;
  for (std::uint64_t at = 1; at <= points; ++at) track.add(in_truth(at * interval_ns));
  for (std::uint64_t at = 0; at < points; at += 977) {
    CAPTURE(at);
    REQUIRE(in_truth(at * interval_ns).ns - track.monotonic_ns(in_truth(at * interval_ns).ticks) <= 1);
  }
}
