// The host's efficiencies of POP and TALP on traces that can be worked out by hand, and on made-up ones against a count
// of each ns.
#include "analyse/variability/host_efficiency.hpp"

#include <catch.hpp>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

using namespace adaptyst::lib;

namespace {

device_efficiencies make_times(std::uint64_t begin, std::uint64_t end, std::uint64_t width) {
  device_efficiencies made;
  made.whole = {begin, end, 1, {}};
  for (std::uint64_t at = begin; at < end; at += width) made.windows.push_back({at, std::min(at + width, end), 1, {}});
  return made;
}

void check(const host_efficiency& found, double parallel, double mpi_load_balance, double mpi_communication,
           double device_offload) {
  REQUIRE(found.of.has_value());
  CHECK(std::abs(found.of->parallel - parallel) < 1e-12);
  CHECK(std::abs(found.of->mpi_load_balance - mpi_load_balance) < 1e-12);
  CHECK(std::abs(found.of->mpi_communication - mpi_communication) < 1e-12);
  CHECK(std::abs(found.of->device_offload - device_offload) < 1e-12);
}

}  // namespace

TEST_CASE("a thread that is in a device's library for 30 of 100") {
  const host_efficiencies found = find_host_efficiencies({{{}, {{10, 40}}}}, make_times(0, 100, 50));
  check(found.whole, 0.7, 1, 1, 0.7);
  REQUIRE(found.windows.size() == 2);
  check(found.windows[0], 0.4, 1, 1, 0.4);
  check(found.windows[1], 1, 1, 1, 1);
}

TEST_CASE("two threads in MPI for 20 and 60 of 100, one of them in the library in the meantime and in MPI") {
  // Outside of MPI 80 and 40; useful 80 and 30, for calls one in another count once.
  const host_efficiencies found =
      find_host_efficiencies({{{{0, 20}}, {}}, {{{40, 100}, {50, 60}}, {{30, 45}, {70, 80}}}}, make_times(0, 100, 100));
  check(found.whole, 0.55, 0.75, 0.8, 110.0 / 120);
}

TEST_CASE("a thread that is in MPI all the time has no efficiencies, and none has a part") {
  const host_efficiencies found = find_host_efficiencies({{{{0, 60}}, {}}}, make_times(0, 100, 50));
  check(found.whole, 0.4, 1, 0.4, 1);
  CHECK_FALSE(found.windows[0].of.has_value());
  check(found.windows[1], 0.8, 1, 0.8, 1);
  CHECK(found.windows[0].threads == 1);
}

TEST_CASE("the host's factors multiply, and are those of a count of each ns") {
  std::mt19937 draw(7);
  const auto pick = [&](std::uint64_t below) { return draw() % below; };
  for (int round = 0; round != 100; ++round) {
    const std::uint64_t begin = pick(50), end = begin + 1 + pick(400);
    const device_efficiencies times = make_times(begin, end, 1 + pick(100));
    std::vector<host_thread_calls> threads(1 + pick(5));
    for (host_thread_calls& thread : threads)
      for (std::uint64_t count = pick(20); count != 0; --count) {
        const std::uint64_t at = pick(500);
        (pick(2) == 0 ? thread.mpi : thread.other).push_back({at, at + pick(60)});
      }
    const host_efficiencies found = find_host_efficiencies(threads, times);
    const auto count = [&](const device_efficiency& time, const host_efficiency& host) {
      double outside = 0, max_outside = 0, useful = 0;
      for (const host_thread_calls& thread : threads) {
        const auto is_in = [](const std::vector<time_span>& calls, std::uint64_t at) {
          for (const time_span& call : calls)
            if (at >= call.begin_ns && at < call.end_ns) return true;
          return false;
        };
        double own_count = 0;
        for (std::uint64_t at = time.start_ns; at != time.end_ns; ++at) {
          if (is_in(thread.mpi, at)) continue;
          ++own_count;
          if (!is_in(thread.other, at)) ++useful;
        }
        outside += own_count;
        max_outside = std::max(max_outside, own_count);
      }
      const auto length = static_cast<double>(time.end_ns - time.start_ns), all = static_cast<double>(threads.size());
      CHECK(host.of.has_value() == (max_outside != 0));
      if (!host.of) return;
      check(host, useful / (all * length), outside / all / max_outside, max_outside / length, useful / outside);
      CHECK(std::abs(host.of->parallel -
                     host.of->mpi_load_balance * host.of->mpi_communication * host.of->device_offload) < 1e-12);
      for (const double factor :
           {host.of->parallel, host.of->mpi_load_balance, host.of->mpi_communication, host.of->device_offload}) {
        CHECK(factor >= 0);
        CHECK(factor <= 1 + 1e-12);
      }
    };
    count(times.whole, found.whole);
    for (std::size_t at = 0; at != times.windows.size(); ++at) count(times.windows[at], found.windows[at]);
  }
}
