// Which clock fits a device's times: made-up readings, no device.
#include <adaptyst/detail/opencl_clock.hpp>

#include "catch.hpp"

namespace {

using adaptyst::clock_id;
using adaptyst::detail::opencl::fitted_clock;
using adaptyst::detail::opencl::host_times;

// Clocks a second apart, so that only one fits.
host_times read_clocks(std::uint64_t monotonic_ns) {
  return {{monotonic_ns, monotonic_ns + 1'000'000'000, monotonic_ns + 2'000'000'000, monotonic_ns + 3'000'000'000}};
}

constexpr std::uint64_t begin = 100'000'000'000;
constexpr std::uint64_t any = ~std::uint64_t{0};

void add_bracket(fitted_clock& with, std::uint64_t monotonic_ns, std::uint64_t queued_ns,
                 std::uint64_t max_width_ns = any) {
  with.bracket(read_clocks(monotonic_ns), read_clocks(monotonic_ns + 20'000), queued_ns, 1, max_width_ns);
}

}  // namespace

TEST_CASE("the clock that was read around a command is the device's") {
  const clock_id ids[] = {clock_id::monotonic, clock_id::monotonic_raw, clock_id::realtime, clock_id::boottime};
  for (unsigned at = 0; at != 4; ++at) {
    fitted_clock found;
    CHECK(found.clock().id() == clock_id::unknown);
    add_bracket(found, begin, read_clocks(begin + 10'000).of[at]);
    CHECK(found.clock().id() == ids[at]);
    CHECK(found.is_host_clock());
    CHECK_FALSE(found.is_ambiguous());
  }
}

TEST_CASE("a time just outside of the readings is another clock's, within the timer's resolution it is not") {
  fitted_clock found;
  found.bracket(read_clocks(begin), read_clocks(begin + 20'000), begin - 80, 80, any);
  CHECK(found.clock().id() == clock_id::monotonic);
  found.bracket(read_clocks(begin), read_clocks(begin + 20'000), begin - 81, 80, any);
  CHECK(found.clock().id() == clock_id::device);
}

TEST_CASE("clocks that agree at first are distinguished later") {
  fitted_clock found;
  host_times same = {{begin, begin, 0, begin}};
  host_times after = {{begin + 20'000, begin + 20'000, 1, begin + 20'000}};
  found.bracket(same, after, begin + 10'000, 1, 0);
  CHECK(found.clock().id() == clock_id::monotonic);
  CHECK(found.is_ambiguous());
  // A minute later, MONOTONIC_RAW has lost a millisecond.
  constexpr std::uint64_t minute = 60'000'000'000;
  constexpr std::uint64_t lost = 1'000'000;
  for (host_times* times : {&same, &after}) {
    for (std::uint64_t& time : times->of) time += minute;
    times->of[1] -= lost;
  }
  found.bracket(same, after, begin + minute - lost + 10'000, 1, 0);
  CHECK(found.clock().id() == clock_id::monotonic_raw);
  CHECK_FALSE(found.is_ambiguous());
}

TEST_CASE("a clock that is none of the host's is known by where its commands were enqueued") {
  fitted_clock found;
  constexpr std::uint64_t ahead = 210'000'000'000;
  add_bracket(found, begin, begin + ahead + 10'000);
  CHECK(found.clock().id() == clock_id::device);
  std::uint64_t converted = 0;
  CHECK_FALSE(found.clock().to_monotonic(begin + ahead, converted));          // one point is none
  add_bracket(found, begin + 3'900'000, begin + 3'900'000 + ahead + 19'000);  // too near to say how fast it runs
  CHECK(found.clock().sync_points() == 1);
  add_bracket(found, begin + 10'000'000, begin + 10'000'000 + ahead + 10'000);
  CHECK(found.clock().sync_points() == 2);
  REQUIRE(found.clock().to_monotonic(begin + ahead + 5'000'000, converted));
  CHECK(converted == begin + 5'000'000);
}

TEST_CASE("a bracket of a preempted thread is no sync point, nor is a bracket wider than permitted") {
  fitted_clock found;
  constexpr std::uint64_t ahead = 210'000'000'000;
  add_bracket(found, begin, begin + ahead + 10'000);
  found.bracket(read_clocks(begin + 10'000'000), read_clocks(begin + 14'000'000), begin + 10'000'000 + ahead, 1, any);
  CHECK(found.clock().sync_points() == 1);
  add_bracket(found, begin + 20'000'000, begin + 20'000'000 + ahead + 10'000, 20'000);
  CHECK(found.clock().sync_points() == 1);
  add_bracket(found, begin + 20'000'000, begin + 20'000'000 + ahead + 10'000, 20'001);
  CHECK(found.clock().sync_points() == 2);
  CHECK(found.clock().jumps() == 0);
}

// Adds a bracket whose command was enqueued at its begin or at its end. Returns whether it became a sync point.
bool becomes_point(fitted_clock& with, std::uint64_t at_ns, std::uint64_t width_ns, bool is_at_end) {
  const std::uint64_t before = with.last_point_ns();
  with.bracket(read_clocks(begin + at_ns), read_clocks(begin + at_ns + width_ns),
               begin + 210'000'000'000 + at_ns + (is_at_end ? width_ns : 0), 1, any);
  return with.last_point_ns() != before;
}

TEST_CASE("each refused bracket permits a wider bracket, and the clock never reports a jump") {
  fitted_clock found;
  CHECK(becomes_point(found, 0, 300'000, false));
  CHECK_FALSE(becomes_point(found, 59'000'000, 300'000, true));
  CHECK(becomes_point(found, 61'000'000, 300'000, true));
  CHECK_FALSE(becomes_point(found, 161'000'000, 60'000, true));
  CHECK(becomes_point(found, 261'000'000, 60'000, true));
  CHECK_FALSE(becomes_point(found, 10'000'000'000, 4'000'000, true));  // also after ten seconds
  CHECK(becomes_point(found, 10'100'000'000, 90'000, false));
  CHECK(found.clock().sync_points() == 4);
  CHECK(found.clock().jumps() == 0);
}

TEST_CASE("a narrow bracket replaces a first sync point from a much wider bracket") {
  fitted_clock found;
  CHECK(becomes_point(found, 0, 4'000'000, true));
  CHECK(becomes_point(found, 14'000'000, 30'000, false));
  CHECK(found.clock().sync_points() == 1);
  CHECK(becomes_point(found, 24'000'000, 30'000, false));
  CHECK(found.clock().sync_points() == 2);
  CHECK(found.clock().drift_ppm() == 0);
}

TEST_CASE("the clock ignores a point that is older than the last sync point") {
  fitted_clock found;
  constexpr std::uint64_t ahead = 210'000'000'000;
  add_bracket(found, begin, begin + ahead + 10'000);
  add_bracket(found, begin - 10'000'000, begin - 10'000'000 + ahead + 10'000);
  CHECK_FALSE(becomes_point(found, -std::uint64_t{10'000'000}, 30'000, false));
  found.set_point(begin - 10'000'000 + ahead, begin - 10'000'000);
  CHECK(found.clock().sync_points() == 1);
  CHECK(found.last_width_ns() == 20'000);
  CHECK(found.clock().jumps() == 0);
}

TEST_CASE("where the device's clock can be read, brackets are no sync points") {
  fitted_clock found;
  add_bracket(found, begin, 5, 0);
  CHECK(found.clock().id() == clock_id::device);
  CHECK(found.clock().sync_points() == 0);
  found.set_point(5, begin);
  found.set_point(10'000'005, begin + 10'000'000);
  CHECK(found.clock().sync_points() == 2);
}
