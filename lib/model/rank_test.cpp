#include <adaptyst/compare.hpp>
#include <algorithm>
#include <cmath>

namespace adaptyst { inline namespace v1 {

// H. B. Mann, D. R. Whitney: On a test of whether one of two random variables is stochastically larger than the other,
// Ann. Math. Statist. 18 (1947); the variance with ties as in E. L. Lehmann: Nonparametrics (1975), section 1.4. All
// events of a bucket are tied. With a correction for continuity.
std::optional<rank_test_result> rank_test(const histogram& before, const histogram& after) {
  constexpr std::uint64_t min_count = 8;
  if (before.count() < min_count || after.count() < min_count) return std::nullopt;
  const auto n = static_cast<double>(before.count());
  const auto m = static_cast<double>(after.count());
  const double all = n + m;
  const auto in = [](const histogram& histogram, std::size_t bucket) {
    return bucket < histogram.buckets().size() ? static_cast<double>(histogram.buckets()[bucket]) : 0;
  };
  double below = 0;  // events of `before` in lower buckets
  double u = 0;      // pairs in which the event of `after` is longer
  double untied = 0;
  for (std::size_t bucket = 0; bucket != std::max(before.buckets().size(), after.buckets().size()); ++bucket) {
    const double b = in(before, bucket);
    const double a = in(after, bucket);
    u += a * (below + b / 2);
    below += b;
    // Computes the sum of t (N² - t²) over ties t, which is N³ minus the sum of t³, without the difference of huge
    // numbers.
    const double tied = a + b;
    untied += tied * (all - tied) * (all + tied);
  }
  const double deviation = std::sqrt(n * m / 12 * (untied / (all * (all - 1))));
  const double distance = std::max(0.0, std::abs(u - n * m / 2) - 0.5);
  const double p = deviation > 0 ? std::erfc(distance / deviation / std::sqrt(2.0)) : 1.0;
  return rank_test_result{p, u / (n * m)};
}

}}  // namespace adaptyst::v1
