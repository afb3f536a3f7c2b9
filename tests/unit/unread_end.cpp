#include "session/unread_end.hpp"

#include "catch.hpp"

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t begin = 1'000'000 * ms;

}  // namespace

using adaptyst::lib::unread_end;

TEST_CASE("Of a program that was never looked at, nothing is known but that it was there") {
  const unread_end none(begin);
  CHECK(none.events(begin + 50 * ms) == 1);
  CHECK(none.length_ns(begin + 50 * ms) == 50 * ms);
}

TEST_CASE("What was not read is what was seen since, and what came at the last pace") {
  unread_end estimate(begin);
  estimate.see(begin + 100 * ms, 1000);
  estimate.read(begin + 100 * ms);
  CHECK(estimate.events(begin + 100 * ms) == 1);
  CHECK(estimate.events(begin + 150 * ms) == 500);
  estimate.see(begin + 200 * ms, 5000);  // not read
  CHECK(estimate.events(begin + 200 * ms) == 4000);
  CHECK(estimate.events(begin + 250 * ms) == 6000);
  CHECK(estimate.length_ns(begin + 250 * ms) == 150 * ms);
  estimate.see(begin + 300 * ms, 5000);
  estimate.read(begin + 300 * ms);
  CHECK(estimate.events(begin + 400 * ms) == 1);  // it rested
}

TEST_CASE("Two looks one after the other are one: they tell no pace") {
  unread_end estimate(begin);
  estimate.see(begin + 100 * ms, 1000);
  estimate.see(begin + 100 * ms + 1, 1000);
  estimate.read(begin + 100 * ms + 1);
  CHECK(estimate.events(begin + 200 * ms) == 999);
  estimate.see(begin + 90 * ms, 10);  // an epoch has begun anew
  CHECK(estimate.events(begin + 200 * ms) >= 1);
}
