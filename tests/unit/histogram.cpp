// Durations in log-linear buckets: the tables of histogram.h, and what quantiles of them are worth.
#include <adaptyst/detail/histogram.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"

namespace {

constexpr std::uint64_t range_end = std::uint64_t{1} << 46;

// Around every edge that is known or suspected, and at random everywhere.
std::vector<std::uint64_t> interesting_values() {
  std::vector<std::uint64_t> values{0, 1, range_end - 1};
  for (unsigned bit = 1; bit != 46; ++bit)
    for (std::int64_t away = -1; away <= 1; ++away)
      values.push_back((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(away));
  for (unsigned bucket = 1; bucket <= ADAPTYST_HISTOGRAM_BUCKETS; ++bucket)
    for (std::int64_t away = -1; away <= 1; ++away)
      values.push_back(adaptyst_histogram_lower(bucket) + static_cast<std::uint64_t>(away));
  std::mt19937_64 random(1);
  for (int i = 0; i != 100000; ++i) values.push_back(random() >> (random() % 63));
  values.erase(std::remove_if(values.begin(), values.end(), [](std::uint64_t value) { return value >= range_end; }),
               values.end());
  std::sort(values.begin(), values.end());
  return values;
}

// The smallest value with at least the fraction percent / 100 of all at or below it, in exact arithmetic.
std::uint64_t exact_quantile(const std::vector<std::uint64_t>& sorted, unsigned percent) {
  const std::size_t rank = std::max<std::size_t>(1, (percent * sorted.size() + 99) / 100);
  return sorted[rank - 1];
}

double relative_error(std::uint64_t found, std::uint64_t exact) {
  if (found == exact) return 0;
  const auto of = static_cast<double>(exact);
  return std::abs(static_cast<double>(found) - of) / of;
}

struct distribution {
  const char* name;
  std::uint64_t (*draw)(std::mt19937_64&);
};

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::min(value, 7e13)); }

const distribution distributions[] = {
    {"constant", [](std::mt19937_64&) { return std::uint64_t{12345}; }},
    {"below the first octave", [](std::mt19937_64& r) { return r() % 64; }},
    {"uniform", [](std::mt19937_64& r) { return r() % 1000000; }},
    {"exponential", [](std::mt19937_64& r) { return rounded(std::exponential_distribution<double>(1e-5)(r)); }},
    {"log-normal", [](std::mt19937_64& r) { return rounded(std::lognormal_distribution<double>(9, 2)(r)); }},
    {"heavy tail", [](std::mt19937_64& r) { return rounded(50 / std::uniform_real_distribution<double>(1e-9, 1)(r)); }},
    {"two far humps", [](std::mt19937_64& r) { return r() % 10 == 0 ? 40000000 + r() % 1000000 : 200 + r() % 40; }},
    {"all magnitudes", [](std::mt19937_64& r) { return (r() >> 18) >> (r() % 46); }},
    {"powers of two", [](std::mt19937_64& r) { return std::uint64_t{1} << (r() % 46); }},
    {"edges of buckets", [](std::mt19937_64& r) {
       return adaptyst_histogram_lower(static_cast<unsigned>(r() % ADAPTYST_HISTOGRAM_BUCKETS)) + r() % 2;
     }}};

}  // namespace

TEST_CASE("buckets follow one another without gap or overlap") {
  for (unsigned bucket = 0; bucket != ADAPTYST_HISTOGRAM_BUCKETS; ++bucket) {
    REQUIRE(adaptyst_histogram_lower(bucket) < adaptyst_histogram_lower(bucket + 1));
    REQUIRE(adaptyst_histogram_bucket(adaptyst_histogram_lower(bucket)) == bucket);
    REQUIRE(adaptyst_histogram_bucket(adaptyst_histogram_lower(bucket + 1) - 1) == bucket);
  }
  CHECK(adaptyst_histogram_lower(0) == 0);
  CHECK(adaptyst_histogram_lower(ADAPTYST_HISTOGRAM_BUCKETS) == range_end);
}

TEST_CASE("the cuts of an octave and their inverse agree") {
  unsigned part = 0;
  for (unsigned at = 0; at != 64; ++at) {
    if (part + 1 < ADAPTYST_HISTOGRAM_OCTAVE && adaptyst_histogram_cuts[part + 1] == at) ++part;
    CHECK(adaptyst_histogram_parts[at] == part);
  }
  CHECK(part + 1 == ADAPTYST_HISTOGRAM_OCTAVE);
}

TEST_CASE("every value lies in its bucket, and greater values in no lower one") {
  unsigned last = 0;
  for (const std::uint64_t value : interesting_values()) {
    const unsigned bucket = adaptyst_histogram_bucket(value);
    CAPTURE(value, bucket);
    REQUIRE(bucket < ADAPTYST_HISTOGRAM_BUCKETS);
    REQUIRE(adaptyst_histogram_lower(bucket) <= value);
    REQUIRE(value < adaptyst_histogram_lower(bucket + 1));
    REQUIRE(bucket >= last);
    last = bucket;
  }
}

TEST_CASE("values beyond the range fall into the last bucket") {
  for (unsigned bit = 46; bit != 64; ++bit)
    for (std::int64_t away = 0; away <= 1; ++away)
      CHECK(adaptyst_histogram_bucket((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(away)) ==
            ADAPTYST_HISTOGRAM_BUCKETS - 1);
  CHECK(adaptyst_histogram_bucket(~std::uint64_t{0}) == ADAPTYST_HISTOGRAM_BUCKETS - 1);
}

TEST_CASE("no value is further than 3 % from what stands for its bucket") {
  for (unsigned bucket = 0; bucket != ADAPTYST_HISTOGRAM_BUCKETS; ++bucket) {
    adaptyst::histogram histogram;
    histogram.add_bucket(bucket, 1);
    const std::uint64_t shown = histogram.quantile(0.5).value();
    CAPTURE(bucket, shown);
    REQUIRE(adaptyst_histogram_bucket(shown) == bucket);
    REQUIRE(relative_error(shown, adaptyst_histogram_lower(bucket)) <= 0.03);
    REQUIRE(relative_error(shown, adaptyst_histogram_lower(bucket + 1) - 1) <= 0.03);
  }
}

TEST_CASE("any quantile is within 3 % of the exact one") {
  for (const distribution& distribution : distributions) {
    for (const std::size_t size : {1U, 2U, 3U, 7U, 10U, 99U, 100U, 101U, 1000U, 20000U}) {
      std::mt19937_64 random(size);
      std::vector<std::uint64_t> values(size);
      adaptyst::histogram counted;
      for (std::uint64_t& value : values) {
        value = std::min(distribution.draw(random), range_end - 1);
        counted.add(value);
      }
      std::sort(values.begin(), values.end());
      REQUIRE(counted.count() == size);
      // Per cent whose double times any of these sizes does not round up past a whole number; and the ends.
      for (const unsigned percent : {0U, 1U, 10U, 25U, 50U, 75U, 90U, 95U, 99U, 100U}) {
        const std::uint64_t exact = exact_quantile(values, percent);
        const std::uint64_t found = counted.quantile(percent / 100.0).value();
        CAPTURE(distribution.name, size, percent, exact, found);
        REQUIRE(relative_error(found, exact) <= 0.03);
      }
    }
  }
}

TEST_CASE("quantiles never fall as the fraction rises") {
  std::mt19937_64 random(3);
  adaptyst::histogram counted;
  for (int i = 0; i != 5000; ++i) counted.add(distributions[7].draw(random));
  std::uint64_t last = 0;
  for (int permille = 0; permille <= 1000; ++permille) {
    const std::uint64_t value = counted.quantile(permille / 1000.0).value();
    REQUIRE(value >= last);
    last = value;
  }
  CHECK(counted.quantile(-1) == counted.quantile(0));
  CHECK(counted.quantile(2) == counted.quantile(1));
}

TEST_CASE("a histogram of nothing has no quantiles") {
  adaptyst::histogram none;
  none.add(17, 0);
  CHECK(none.count() == 0);
  CHECK_FALSE(none.quantile(0.5).has_value());
  none.merge(adaptyst::histogram{});
  CHECK(none.buckets().empty());
}

TEST_CASE("merging is counting all values in one") {
  std::mt19937_64 random(5);
  for (int round = 0; round != 50; ++round) {
    adaptyst::histogram parts[3];
    adaptyst::histogram all;
    for (int i = 0; i != 300; ++i) {
      const std::uint64_t value = random() >> (random() % 64);
      const std::uint64_t times = random() % 4;
      parts[random() % 3].add(value, times);
      all.add(value, times);
    }
    adaptyst::histogram left = parts[0];
    left.merge(parts[1]);
    left.merge(parts[2]);
    adaptyst::histogram right = parts[2];
    adaptyst::histogram inner = parts[1];
    inner.merge(parts[0]);
    right.merge(inner);
    REQUIRE(left == all);
    REQUIRE(right == all);
    REQUIRE(left.count() == all.count());
    REQUIRE(right.count() == all.count());
  }
}

TEST_CASE("a region's quantile stays between its least and its greatest duration") {
  adaptyst::region row;
  row.durations.add(1000);
  row.min_ns = row.max_ns = 1000;
  for (const double q : {0.0, 0.5, 1.0}) CHECK(row.quantile_ns(q) == 1000U);
  CHECK_FALSE(adaptyst::region{}.quantile_ns(0.5).has_value());
}

TEST_CASE("a sum that would be beyond 64 bits stays at the most that it can be") {
  adaptyst::histogram made;
  const std::uint64_t half = std::uint64_t{1} << 63;
  for (unsigned bucket = 0; bucket != 3; ++bucket) made.add_bucket(bucket, half);
  CHECK(made.count() == ~std::uint64_t{0});
  CHECK(made.buckets()[0] + made.buckets()[1] == made.count());
  CHECK(made.quantile(1) == 1U);
}

TEST_CASE("of few events the highest quantile is the longest, and never below the mean") {
  for (const std::uint64_t count : {2U, 99U}) {
    adaptyst::region row;
    row.count = count;
    row.min_ns = 1025;
    row.max_ns = 1055;  // one bucket, whose middle is below
    row.durations.add(row.min_ns);
    row.durations.add(row.max_ns, count - 1);
    row.total_ns = row.min_ns + (count - 1) * row.max_ns;
    CHECK(row.quantile_ns(0.99) == row.max_ns);
    CHECK(*row.quantile_ns(0.99) >= row.total_ns / row.count);
    CHECK(row.quantile_ns(0.5) < row.max_ns);
  }
}
