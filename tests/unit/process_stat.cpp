// Which process it is, from /proc.
#include "support/process_stat.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "catch.hpp"
#include "session/resident_series.hpp"

using adaptyst::lib::is_running;
using adaptyst::lib::read_stat;

TEST_CASE("a process, its parent and its start, whatever its name") {
  int gate[2], is_named[2];
  REQUIRE(pipe(gate) == 0);
  REQUIRE(pipe(is_named) == 0);
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    prctl(PR_SET_NAME, "a) R 1 2 (b\n");
    close(is_named[0]);
    close(is_named[1]);
    close(gate[1]);
    _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(gate[0]);
  close(is_named[1]);
  char none;
  CHECK(read(is_named[0], &none, 1) == 0);
  close(is_named[0]);
  const auto found = read_stat(child);
  REQUIRE(found);
  CHECK(found->parent == getpid());
  const double started = static_cast<double>(found->started) / static_cast<double>(sysconf(_SC_CLK_TCK));
  CHECK(std::abs(started - static_cast<double>(now.tv_sec)) < 5);
  CHECK(is_running(child, found->started));
  CHECK(is_running(child, 0));
  CHECK_FALSE(is_running(child, found->started + 1));
  close(gate[1]);
  waitpid(child, nullptr, 0);
  CHECK_FALSE(read_stat(child));
  CHECK_FALSE(is_running(child, found->started));
  CHECK_FALSE(is_running(child, 0));
}

TEST_CASE("a series of resident memory covers an hour with 128 points at most") {
  adaptyst::lib::resident_series series;
  constexpr std::uint64_t tick_ns = 100'000'000, ticks = 36'000;
  for (std::uint64_t tick = 0; tick <= ticks; ++tick) {
    series.add(tick * tick_ns, tick);
    series.add(tick * tick_ns + tick_ns / 2, 0);  // before the interval is over
    const auto& points = series.points();
    REQUIRE(points.size() <= adaptyst::process_info::max_resident);
    if (tick >= 128) REQUIRE(points.size() >= adaptyst::process_info::max_resident / 2);
  }
  const auto& points = series.points();
  CHECK(points.front().after_ns == 0);
  CHECK(points.back().after_ns > ticks * tick_ns / 100 * 97);
  const std::uint64_t interval_ns = points[1].after_ns;
  for (std::size_t at = 0; at != points.size(); ++at) {
    CHECK(points[at].after_ns == at * interval_ns);
    CHECK(points[at].rss_bytes == points[at].after_ns / tick_ns);
  }
}

TEST_CASE("a series of rare reads has no gap after points are removed") {
  adaptyst::lib::resident_series series;
  constexpr std::uint64_t second_ns = 1'000'000'000;
  std::uint64_t at_s = 0;
  for (; at_s <= 1000; ++at_s) series.add(at_s * second_ns, at_s);
  const auto& points = series.points();
  REQUIRE(points.size() >= 32);
  std::uint64_t least_ns = ~std::uint64_t{0}, most_ns = 0;
  for (std::size_t at = 1; at != points.size(); ++at) {
    const std::uint64_t gap_ns = points[at].after_ns - points[at - 1].after_ns;
    least_ns = std::min(least_ns, gap_ns);
    most_ns = std::max(most_ns, gap_ns);
  }
  CHECK(most_ns <= 2 * least_ns);
  CHECK(points.back().after_ns > 950 * second_ns);
}
