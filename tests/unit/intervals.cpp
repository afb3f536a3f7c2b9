// The union of intervals that arrive out of order, held against a bitmap.
#include <adaptyst/detail/intervals.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "catch.hpp"

namespace {

using adaptyst::detail::interval;
using adaptyst::detail::interval_union;

constexpr unsigned intervals_kept = 64;  // as devices keep them
using device_union = interval_union<intervals_kept>;

// A bit for each nanosecond.
class bitmap {
 public:
  explicit bitmap(std::size_t size) : covered_(size) {}
  void add(std::uint64_t begin, std::uint64_t end) {
    for (; begin < end; ++begin) covered_[begin] = true;
  }
  std::uint64_t total() const { return static_cast<std::uint64_t>(std::count(covered_.begin(), covered_.end(), true)); }

 private:
  std::vector<bool> covered_;
};

// Sorted, disjoint, not touching, and none before the horizon.
template <unsigned Kept>
bool is_well_formed(const interval_union<Kept>& of) {
  if (of.count > Kept) return false;
  std::uint64_t last = 0;
  for (const interval* at = of.open; at != of.open + of.count; ++at) {
    if (at->begin_ns >= at->end_ns || at->begin_ns < of.horizon_ns) return false;
    if (at != of.open && at->begin_ns <= last) return false;
    last = at->end_ns;
  }
  return true;
}

std::uint64_t total_of(std::initializer_list<interval> all) {
  device_union sum{};
  for (const interval& one : all) {
    sum.add(one.begin_ns, one.end_ns);
    REQUIRE(is_well_formed(sum));
  }
  CHECK(sum.late == 0);
  return sum.total_ns();
}

}  // namespace

TEST_CASE("nothing is no time") {
  CHECK(device_union{}.total_ns() == 0);
  CHECK(total_of({{5, 5}}) == 0);
}

TEST_CASE("reversed intervals are no time") {
  CHECK(total_of({{9, 5}}) == 0);
  CHECK(total_of({{1, 3}, {9, 5}, {3, 1}}) == 2);
  CHECK(total_of({{1, 3}, {~std::uint64_t{0}, 0}}) == 2);
}

TEST_CASE("what touches, contains or is contained counts once") {
  CHECK(total_of({{10, 20}, {20, 30}}) == 20);
  CHECK(total_of({{20, 30}, {10, 20}}) == 20);
  CHECK(total_of({{10, 20}, {10, 20}}) == 10);
  CHECK(total_of({{10, 40}, {20, 30}}) == 30);
  CHECK(total_of({{20, 30}, {10, 40}}) == 30);
  CHECK(total_of({{10, 20}, {30, 40}, {15, 35}}) == 30);
  CHECK(total_of({{10, 20}, {30, 40}, {50, 60}, {20, 50}}) == 50);
  CHECK(total_of({{10, 20}, {30, 40}, {50, 60}, {0, 100}}) == 100);
  CHECK(total_of({{30, 40}, {10, 20}, {21, 29}}) == 28);
  CHECK(total_of({{0, 1}, {0, ~std::uint64_t{0}}}) == ~std::uint64_t{0});
}

TEST_CASE("any order gives the exact union while no more than the kept intervals are apart") {
  constexpr std::uint64_t length = 2000;
  for (unsigned seed = 0; seed != 400; ++seed) {
    std::mt19937_64 random(seed);
    device_union sum{};
    bitmap exact(length);
    // Never more than `intervals_kept` disjoint ones at a time, whatever their order.
    for (unsigned i = 0; i != intervals_kept; ++i) {
      const std::uint64_t begin = random() % length;
      const std::uint64_t end = std::min(length, begin + random() % (1 + seed % 100));
      sum.add(begin, end);
      exact.add(begin, end);
      REQUIRE(is_well_formed(sum));
      CAPTURE(seed, i, begin, end);
      REQUIRE(sum.total_ns() == exact.total());
    }
    REQUIRE(sum.late == 0);
  }
}

TEST_CASE("a long stream that is out of order by less than the window is exact") {
  for (unsigned seed = 0; seed != 40; ++seed) {
    std::mt19937_64 random(seed);
    constexpr std::size_t many = 1000;
    std::vector<interval> all;
    std::uint64_t now = 0;
    for (std::size_t i = 0; i != many; ++i) {
      now += random() % 12;
      all.push_back({now, now + random() % 20});
    }
    // Each moves by less than half the window.
    for (std::size_t at = 0; at + intervals_kept / 2 <= many; at += intervals_kept / 2)
      std::shuffle(all.begin() + static_cast<std::ptrdiff_t>(at),
                   all.begin() + static_cast<std::ptrdiff_t>(at + intervals_kept / 2), random);
    device_union sum{};
    bitmap exact(now + 100);
    for (const interval& one : all) {
      sum.add(one.begin_ns, one.end_ns);
      exact.add(one.begin_ns, one.end_ns);
      REQUIRE(is_well_formed(sum));
    }
    CAPTURE(seed);
    REQUIRE(sum.late == 0);
    REQUIRE(sum.total_ns() == exact.total());
  }
}

TEST_CASE("the interval that is exactly as late as the window allows is exact, the next is not") {
  device_union sum{};
  for (std::uint64_t i = 1; i <= intervals_kept; ++i) sum.add(100 * i, 100 * i + 10);
  CHECK(sum.folded_ns == 0);
  sum.add(50, 60);  // older than all, and there is no room: goes into the sum at once
  CHECK(sum.total_ns() == 10 * (intervals_kept + 1));
  CHECK(sum.late == 0);
  CHECK(sum.horizon_ns == 60);
  sum.add(40, 70);  // the part before the horizon is lost
  CHECK(sum.late == 1);
  CHECK(sum.total_ns() == 10 * (intervals_kept + 2));
  sum.add(0, 30);
  CHECK(sum.late == 2);
  CHECK(sum.total_ns() == 10 * (intervals_kept + 2));
  sum.add(sum.horizon_ns, sum.horizon_ns + 1);  // begins just there: not late
  CHECK(sum.late == 2);
}

namespace {

// 400 intervals, in each third seed roughly in order: how many of them were late.
template <unsigned Kept>
std::uint64_t late_in_random_order(unsigned seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t length = 500 + random() % 20000;
  const std::uint64_t longest = 1 + random() % 60;
  interval_union<Kept> sum{};
  bitmap exact(length);
  for (unsigned i = 0; i != 400; ++i) {
    const std::uint64_t begin = seed % 3 == 0 ? i * length / 400 + random() % (length / 400 + 1) : random() % length;
    const std::uint64_t end = std::min(length, begin + random() % longest);
    if (begin >= end) continue;
    sum.add(begin, end);
    exact.add(begin, end);
    REQUIRE(is_well_formed(sum));
  }
  CAPTURE(seed, Kept);
  REQUIRE(sum.total_ns() <= exact.total());
  if (sum.late == 0) REQUIRE(sum.total_ns() == exact.total());
  return sum.late;
}

}  // namespace

TEST_CASE("in any order at all the sum never exceeds the union, and is exact when nothing was late") {
  unsigned exact_ones = 0;
  unsigned late_ones = 0;
  for (unsigned seed = 0; seed != 300; ++seed)
    for (const std::uint64_t late : {late_in_random_order<intervals_kept>(seed), late_in_random_order<1>(seed),
                                     late_in_random_order<2>(seed), late_in_random_order<7>(seed)})
      (late == 0 ? exact_ones : late_ones)++;
  CHECK(exact_ones > 50);  // both kinds were tried
  CHECK(late_ones > 50);
}

TEST_CASE("an interval without length is not late") {
  device_union sum{};
  for (std::uint64_t i = 1; i <= intervals_kept + 1; ++i) sum.add(100 * i, 100 * i + 10);
  REQUIRE(sum.horizon_ns == 110);
  sum.add(50, 50);
  sum.add(60, 40);
  CHECK(sum.late == 0);
}
