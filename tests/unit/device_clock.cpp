// Conversion of a device's clock to that of the host, with offset, drift and jumps.
#include <adaptyst/adapter/device_clock.hpp>

#include <cmath>
#include <ctime>

#include "catch.hpp"

namespace {

using adaptyst::clock_id;
using adaptyst::device_clock;

constexpr std::uint64_t second = 1'000'000'000;

// A device whose clock is 210 ms behind, and runs faster by 200 parts in a million.
constexpr std::uint64_t start_ns = 5000 * second;
std::uint64_t device_time(std::uint64_t host_ns) {
  return host_ns - 210'000'000 + static_cast<std::uint64_t>(static_cast<double>(host_ns - start_ns) * 200e-6);
}

double measure_error(const device_clock& clock, std::uint64_t host_ns) {
  std::uint64_t converted = 0;
  REQUIRE(clock.to_monotonic(device_time(host_ns), converted));
  return std::abs(static_cast<double>(static_cast<std::int64_t>(converted - host_ns)));
}

}  // namespace

TEST_CASE("offset and drift of a device's clock are found within 10 us over 60 s") {
  device_clock clock{clock_id::device};
  const auto jitter = [](std::uint64_t n) { return n * 2654435761U % 4000; };  // what a reading may be off
  clock.synchronise(device_time(start_ns), start_ns + jitter(1));
  std::uint64_t converted = 0;
  CHECK_FALSE(clock.to_monotonic(device_time(start_ns), converted));
  clock.synchronise(device_time(start_ns + 60 * second), start_ns + 60 * second + jitter(2));
  for (std::uint64_t at = 0; at != 61; ++at) CHECK(measure_error(clock, start_ns + at * second) < 10'000);
  CHECK(std::abs(clock.drift_ppm() + 200) < 1);
  CHECK(clock.offset_ns() == 210'000'000 - 12'000'000 + static_cast<std::int64_t>(jitter(2)));
  clock.synchronise(device_time(start_ns + 61 * second), start_ns + 61 * second);
  CHECK(clock.residual_ns() < 10'000);
  CHECK(clock.jumps() == 0);
}

TEST_CASE("it goes on beyond its points, however many there were") {
  device_clock clock{clock_id::device};
  for (std::uint64_t at = 0; at != 100; ++at)
    clock.synchronise(device_time(start_ns + at * second), start_ns + at * second);
  CHECK(clock.sync_points() == device_clock::max_points);
  CHECK(measure_error(clock, start_ns + 101 * second) < 100);
  CHECK(measure_error(clock, start_ns + 50 * second) < 100);
}

TEST_CASE("times in an unknown clock are refused, not guessed") {
  device_clock clock{clock_id::unknown};
  clock.synchronise(1000, 1000);
  clock.synchronise(2000, 2000);
  std::uint64_t converted = 0;
  CHECK_FALSE(clock.to_monotonic(1500, converted));
  CHECK_FALSE(clock.synchronise());
  device_clock device{clock_id::device};
  device.synchronise(1000, 1000);
  device.synchronise(2000, 2000);
  CHECK_FALSE(device.to_monotonic(0, converted));  // not taken
  CHECK(device.to_monotonic(1500, converted));
  CHECK(converted == 1500);
}

TEST_CASE("a clock that jumps is begun anew") {
  device_clock clock{clock_id::device};
  clock.synchronise(1 * second, 11 * second);
  clock.synchronise(2 * second, 12 * second);
  clock.synchronise(1 * second, 13 * second);  // backwards
  CHECK(clock.jumps() == 1);
  CHECK(clock.sync_points() == 1);
  clock.synchronise(2 * second, 14 * second);
  std::uint64_t converted = 0;
  REQUIRE(clock.to_monotonic(2 * second, converted));
  CHECK(converted == 14 * second);
  clock.synchronise(2 * second, 15 * second);  // it stands
  CHECK(clock.sync_points() == 2);
}

TEST_CASE("clocks of the host are read against CLOCK_MONOTONIC") {
  for (const auto& [id, number] :
       {std::pair{clock_id::monotonic_raw, CLOCK_MONOTONIC_RAW}, std::pair{clock_id::realtime, CLOCK_REALTIME},
        std::pair{clock_id::boottime, CLOCK_BOOTTIME}}) {
    device_clock clock{id};
    REQUIRE(clock.synchronise());
    const timespec a_while{0, 20'000'000};
    nanosleep(&a_while, nullptr);
    REQUIRE(clock.synchronise());
    const std::uint64_t before = adaptyst::detail::monotonic_ns();
    const std::uint64_t between = adaptyst::detail::read_clock(number);
    const std::uint64_t after = adaptyst::detail::monotonic_ns();
    std::uint64_t converted = 0;
    REQUIRE(clock.to_monotonic(between, converted));
    CAPTURE(number, before, converted, after, clock.offset_ns());
    CHECK(converted + 50'000 >
          before);  // a wide margin: a busy machine may take the processor away between two readings
    CHECK(converted < after + 50'000);
  }
}
