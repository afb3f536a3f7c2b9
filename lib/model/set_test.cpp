// Statistics for comparing sets of runs: Welch's t, permutation of runs between the sides, and corrections for tests of
// many regions. Sources are cited at their use.
#include "set_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace adaptyst::lib {

namespace {

// Below the resolution of a nanosecond clock; gives a finite t if the sides do not vary.
constexpr double min_variance = 1e-24;

// The continued fraction of the incomplete beta function, by W. J. Lentz's method: M. Abramowitz, I. A. Stegun,
// Handbook of Mathematical Functions (1964), 26.5.8.
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double upper = 1;
  double lower = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = lower;
  for (int m = 1; m != 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    lower = 1 / away_from_zero(1 + even * lower);
    upper = away_from_zero(1 + even / upper);
    value *= lower * upper;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    lower = 1 / away_from_zero(1 + odd * lower);
    upper = away_from_zero(1 + odd / upper);
    value *= lower * upper;
    if (std::abs(lower * upper - 1) < 1e-14) break;
  }
  return value;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// Student's distribution, both tails; Abramowitz and Stegun 26.7.1.
double p_value(double t, double degrees) { return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)); }

double quantile_of_t(double p, double degrees) {
  double low = 0;
  double high = 1;
  while (p_value(high, degrees) > p && high < 1e12) high *= 2;
  for (int halved = 0; halved != 60; ++halved) {
    const double middle = (low + high) / 2;
    (p_value(middle, degrees) > p ? low : high) = middle;
  }
  return high;
}

struct sums {
  double count = 0, sum = 0, squares = 0;

  void add(double value) {
    if (std::isnan(value)) return;
    ++count;
    sum += value;
    squares += value * value;
  }
  double mean() const { return sum / count; }
  double variance() const { return std::max((squares - sum * sum / count) / (count - 1), min_variance); }
};

// B. L. Welch: The generalization of "Student's" problem when several different population variances are involved,
// Biometrika 34 (1947); the degrees of freedom are F. E. Satterthwaite's, Biometrics Bull. 2 (1946).
std::optional<welch> compared(const sums& before, const sums& after) {
  if (before.count < 2 || after.count < 2) return std::nullopt;
  const double of_before = before.variance() / before.count;
  const double of_after = after.variance() / after.count;
  const double both = of_before + of_after;
  return welch{after.mean() - before.mean(), std::sqrt(both),
               both * both / (of_before * of_before / (before.count - 1) + of_after * of_after / (after.count - 1))};
}

// Differences from the middle value, so that squares lose no precision.
run_values centred(const run_values& all) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : all) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  run_values made = all;
  for (double& value : made) value -= sum / static_cast<double>(std::max<std::size_t>(count, 1));
  return made;
}

double ways_to_deal(std::size_t before, std::size_t after) {
  double ways = 1;
  for (std::size_t at = 1; at <= before; ++at) ways = ways * static_cast<double>(after + at) / static_cast<double>(at);
  return std::round(ways);
}

constexpr std::size_t max_ways = 20'000;

using side_of_run = std::vector<char>;  // true: the run is on the side before the change

// All ways to divide the runs, or a random selection of `max_count`; the first is the actual one.
std::vector<side_of_run> ways_to_deal_runs(std::size_t before, std::size_t all, std::size_t max_count) {
  side_of_run way(all, 0);
  std::fill_n(way.begin(), before, 1);
  std::vector<side_of_run> ways{way};
  if (ways_to_deal(before, all - before) <= static_cast<double>(max_count)) {
    while (std::prev_permutation(way.begin(), way.end())) ways.push_back(way);
    return ways;
  }
  std::mt19937_64 same_each_time(1);
  while (ways.size() != max_count) {
    for (std::size_t left = all; left > 1; --left) std::swap(way[left - 1], way[same_each_time() % left]);
    ways.push_back(way);
  }
  return ways;
}

}  // namespace

double welch::t() const { return difference / error; }
double welch::reach() const { return error * quantile_of_t(0.05, degrees); }
double welch::p() const { return p_value(t(), degrees); }

std::optional<welch> compare_means(const run_values& all, std::size_t before) {
  const run_values values = centred(all);
  sums sides[2];
  for (std::size_t at = 0; at != values.size(); ++at) sides[at < before ? 0 : 1].add(values[at]);
  return compared(sides[0], sides[1]);
}

double min_permuted_p(std::size_t before, std::size_t after) {
  // Sides of equal size can be exchanged as a whole.
  return (before == after ? 2 : 1) / std::min(ways_to_deal(before, after), static_cast<double>(max_ways));
}

// P. H. Westfall, S. S. Young: Resampling-Based Multiple Testing (1993), section 2.3, the single-step min-P. With few
// runs, t is often large by chance, so p is compared instead of t. Under the null hypothesis, any division of the runs
// is equally likely for any distribution, so the test is exact. Properties that all regions of a run share, such as a
// clock rate, do not weaken it, unlike a correction by the number of regions. If the ways are drawn at random, the
// actual one is included: B. Phipson, G. K. Smyth: Permutation p-values should never be zero, Stat. Appl. Genet. Mol.
// Biol. 9 (2010).
std::vector<std::optional<double>> permuted_p(const std::vector<run_values>& regions, std::size_t before) {
  std::vector<std::optional<double>> made(regions.size());
  if (regions.empty()) return made;
  const std::size_t runs = regions.front().size();
  constexpr std::size_t max_additions = 1'000'000'000;  // some seconds
  const std::size_t max_count = std::clamp<std::size_t>(max_additions / (regions.size() * runs), 1000, max_ways);
  const std::vector<side_of_run> ways = ways_to_deal_runs(before, runs, max_count);
  std::vector<double> least(ways.size(), 1);
  std::vector<double> seen(regions.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t at = 0; at != regions.size(); ++at) {
    const run_values values = centred(regions[at]);
    for (std::size_t way = 0; way != ways.size(); ++way) {
      sums sides[2];
      for (std::size_t run = 0; run != runs; ++run) sides[ways[way][run] != 0 ? 0 : 1].add(values[run]);
      const std::optional<welch> found = compared(sides[0], sides[1]);
      if (!found) {
        if (way == 0) break;
        continue;
      }
      if (way == 0) seen[at] = found->p();
      // The tails of a normal distribution are cheaper to compute and never above those of t.
      if (std::erfc(std::abs(found->t()) / std::sqrt(2.0)) < least[way]) least[way] = std::min(least[way], found->p());
    }
  }
  std::sort(least.begin(), least.end());
  constexpr double rounding = 1e-7;
  for (std::size_t at = 0; at != regions.size(); ++at) {
    if (std::isnan(seen[at])) continue;
    const auto behind = std::upper_bound(least.begin(), least.end(), seen[at] * (1 + rounding));
    made[at] = static_cast<double>(behind - least.begin()) / static_cast<double>(least.size());
  }
  return made;
}

// A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).
void correct_for_number(std::vector<double*> all) {
  std::sort(all.begin(), all.end(), [](const double* a, const double* b) { return *a < *b; });
  double least = 0;
  for (std::size_t at = 0; at != all.size(); ++at) {
    least = std::max(least, std::min(1.0, *all[at] * static_cast<double>(all.size() - at)));
    *all[at] = least;
  }
}

}  // namespace adaptyst::lib
