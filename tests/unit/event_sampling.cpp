// Which events are taken where one of N is: every one with the same chance, whatever the program's rhythm.
#include <adaptyst/detail/rows.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"
#include "chance.hpp"

namespace {

using namespace adaptyst::detail;

constexpr std::uint32_t to_step(std::uint32_t n) {
  std::uint32_t step = ADAPTYST_STEP_RECORDER;
  while (n > 1) n /= 2, ++step;
  return step;
}

// A row and what it needs.
struct kept_row {
  row kept{};
  std::array<std::uint64_t, ADAPTYST_HISTOGRAM_BUCKETS> histogram{};
  kept_row() {
    kept.min_ns = ~std::uint64_t{0};
    kept.histogram = histogram.data();
    kept.buckets = ADAPTYST_HISTOGRAM_BUCKETS;
  }
  void take(std::uint64_t duration_ns, std::uint64_t weight) { take(duration_ns, weight, ++clusters_, weight); }
  void take(std::uint64_t duration_ns, std::uint64_t weight, std::uint64_t cluster, std::uint64_t cluster_weight) {
    kept.count += weight;
    static recorder plain;  // of which nothing is asked, as there is a histogram
    add_weighed_duration(plain, kept, duration_ns, weight, cluster, cluster_weight);
  }

 private:
  std::uint64_t clusters_ = 0;
};

}  // namespace

TEST_CASE("the logarithm is that of <cmath>") {
  std::mt19937_64 random(1);
  for (int at = 0; at != 100000; ++at) {
    const double value = std::ldexp(1 + std::generate_canonical<double, 53>(random), -static_cast<int>(random() % 60));
    CHECK(std::abs(natural_log(value) - std::log(value)) <= 1e-11 * std::abs(std::log(value)) + 1e-13);
  }
  CHECK(natural_log(1.0) == 0);
}

TEST_CASE("gaps are geometric") {
  for (const std::uint32_t k : {1U, 3U, 6U, 10U, 16U}) {
    event_sampler all{};
    begin_event_sampling(all, 7 * k);
    const double n = std::ldexp(1, static_cast<int>(k));
    constexpr int draws = 200000;
    double sum = 0;
    double squares = 0;
    double beyond = 0;  // of twice the mean
    for (int at = 0; at != draws; ++at) {
      const double skip_count = draw_skip_count(all, k);
      REQUIRE(skip_count >= 1);
      sum += skip_count;
      squares += skip_count * skip_count;
      beyond += skip_count > 2 * n ? 1 : 0;
    }
    const double mean = sum / draws;
    const double deviation = std::sqrt(n * (n - 1));
    CHECK(std::abs(mean - n) < 5 * deviation / std::sqrt(draws));
    // What is drawn has eight times the fourth power of its deviation as its fourth moment about the mean, and some
    // more.
    CHECK(squares / draws - mean * mean == Approx(n * (n - 1)).epsilon(5 * std::sqrt((8 + 1 / (n * (n - 1))) / draws)));
    const double expected = std::pow(1 - 1 / n, 2 * n);
    CHECK(std::abs(beyond / draws - expected) < support::share_tolerance(expected, draws));
  }
}

TEST_CASE("no period of a program meets one of ours") {
  // The phases of a period that is N, a divisor and a multiple of it.
  constexpr std::uint32_t n = 64;
  for (const std::uint32_t period : {16U, 64U, 128U}) {
    event_sampler all{};
    begin_event_sampling(all, period);
    std::vector<double> estimates(period);
    constexpr std::uint32_t rounds = 40000;
    for (std::uint32_t at = 0; at != rounds * period; ++at)
      estimates[at % period] += static_cast<double>(draw_weight(all, to_step(n)));
    const double error = std::sqrt(double{rounds} * (n - 1));
    for (const double estimate : estimates) CHECK(std::abs(estimate - rounds) < 5 * error);
  }
}

TEST_CASE("markers that share a step, and come and go, have the same chance each") {
  event_sampler all{};
  begin_event_sampling(all, 3);
  std::mt19937_64 random(2);
  double seen[2] = {};
  double estimates[2] = {};
  for (int burst = 0; burst != 20000; ++burst) {
    const unsigned which = static_cast<unsigned>(random() % 2);
    // Each is on its own steps: the first changes between two of them, the second is on one of these.
    const std::uint32_t step = which == 0 && random() % 2 != 0 ? to_step(16) : to_step(128);
    for (std::uint64_t left = 1 + random() % 50; left != 0; --left) {
      ++seen[which];
      estimates[which] += static_cast<double>(draw_weight(all, step));
    }
  }
  for (int which = 0; which != 2; ++which)
    CHECK(std::abs(estimates[which] - seen[which]) < 5 * std::sqrt(127 * seen[which]));
}

TEST_CASE("intervals of 95 % cover in 95 % of all cases, for periodic programs and for bursty ones", "[coverage]") {
  constexpr int repetitions = 1000;
  constexpr std::uint32_t n = 32;
  for (const bool bursty : {false, true}) {
    int count_covered = 0;
    int total_covered = 0;
    double bias = 0;
    for (int repetition = 0; repetition != repetitions; ++repetition) {
      event_sampler all{};
      begin_event_sampling(all, static_cast<std::uint64_t>(repetition) * 0x9E3779B97F4A7C15U);
      std::mt19937_64 random(static_cast<std::uint64_t>(repetition));
      const auto found = std::make_unique<kept_row>();
      double count = 0;
      double total = 0;
      for (std::uint32_t at = 0; at != 20000; ++at) {
        const std::uint64_t duration =
            bursty ? 50 + (random() % 100 == 0 ? random() % 2000 : random() % 20) : 50 + 10 * (at % n);
        ++count;
        total += static_cast<double>(duration);
        if (const std::uint64_t weight = draw_weight(all, to_step(n)); weight != 0) found->take(duration, weight);
      }
      const row& kept = found->kept;
      CHECK(kept.count - kept.left_out == kept.count / n);
      const auto covers = [](double estimate, double variance, double truth) {
        return std::abs(estimate - truth) <= 1.96 * std::sqrt(variance);
      };
      count_covered += covers(static_cast<double>(kept.count), static_cast<double>(kept.count_variance), count) ? 1 : 0;
      total_covered += covers(static_cast<double>(kept.total_ns), kept.total_variance, total) ? 1 : 0;
      bias += static_cast<double>(kept.total_ns) / total - 1;
    }
    CHECK(count_covered >= 0.92 * repetitions);
    CHECK(count_covered <= 0.98 * repetitions);
    CHECK(total_covered >= 0.90 * repetitions);
    CHECK(total_covered <= 0.99 * repetitions);
    CHECK(std::abs(bias / repetitions) < 0.005);
  }
}

// Seven events in one that is taken or not: they vary together, the more so as they last alike.
TEST_CASE("intervals of 95 % cover what is nested in events that are left out together", "[coverage]") {
  constexpr int repetitions = 1000;
  constexpr std::uint32_t n = 32;
  constexpr std::uint32_t nested = 7;
  int count_covered = 0;
  int total_covered = 0;
  for (int repetition = 0; repetition != repetitions; ++repetition) {
    event_sampler all{};
    begin_event_sampling(all, static_cast<std::uint64_t>(repetition) * 0x9E3779B97F4A7C15U);
    std::mt19937_64 random(static_cast<std::uint64_t>(repetition));
    const auto found = std::make_unique<kept_row>();
    constexpr std::uint32_t times = 20000;
    double total = 0;
    for (std::uint64_t at = 1; at != times + 1; ++at) {
      const std::uint64_t weight = draw_weight(all, to_step(n));
      const std::uint64_t duration = 50 + random() % 100;
      for (std::uint32_t event = 0; event != nested; ++event) {
        total += static_cast<double>(duration);
        if (weight != 0) found->take(duration, weight, at, weight);
      }
    }
    const row& kept = found->kept;
    const double count_error = static_cast<double>(kept.count) - double{times} * nested;
    const double total_error = static_cast<double>(kept.total_ns) - total;
    count_covered += std::abs(count_error) <= 1.96 * std::sqrt(static_cast<double>(kept.count_variance)) ? 1 : 0;
    total_covered += std::abs(total_error) <= 1.96 * std::sqrt(kept.total_variance) ? 1 : 0;
  }
  CHECK(count_covered >= 0.93 * repetitions);
  CHECK(count_covered <= 0.97 * repetitions);
  CHECK(total_covered >= 0.93 * repetitions);
  CHECK(total_covered <= 0.97 * repetitions);
}

TEST_CASE("a cluster's variance is that of its sum, by hand") {
  // Weights of 4 and of 4 * 2 in one cluster of 4, durations of 10 and 20 ns: (1 - 1/4) * (4 + 8)^2, and
  // (1 - 1/4) * (4 * 10 + 8 * 20)^2.
  const auto found = std::make_unique<kept_row>();
  found->take(10, 4, 1, 4);
  found->take(20, 8, 1, 4);
  CHECK(found->kept.count_variance == 108);
  CHECK(found->kept.total_variance == 30000);
  found->take(10, 4, 2, 4);  // another one adds its own
  CHECK(found->kept.count_variance == 108 + 12);
  CHECK(found->kept.total_variance == 30000 + 1200);
}
