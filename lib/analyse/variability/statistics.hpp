// Quantiles, fences and correlations, as docs/variability.md defines them. Pure; the same for the same values in the same
// order, and quantiles in any order.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_STATISTICS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_STATISTICS_HPP

#include <cstdint>
#include <optional>
#include <vector>

namespace adaptyst::lib {

// Sums of squares of times: 128 bits hold 2^36 squares of 19.5 hours.
__extension__ using wide_uint = unsigned __int128;

// The quantile of type 7 (Hyndman and Fan 1996; the default of R and numpy): at (n - 1) q, between neighbours in a straight
// line. Reorders the values; of none it is 0.
double quantile(std::vector<std::uint64_t>& values, double q);
double quantile(std::vector<double>& values, double q);

// Tukey's fences around the quartiles.
struct fences {
  double q1 = 0, q3 = 0, lower = 0, upper = 0;
};
fences find_fences(std::vector<double> values, double k);

// Empty: undefined, since one side does not vary, or there are fewer than two pairs.
std::optional<double> pearson(const std::vector<double>& x, const std::vector<double>& y);
// Pearson's, of ranks; equal values share the mean of their ranks.
std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y);

// Mean and standard deviation (of n, not n - 1) of what has this count, sum and sum of squares, all exact.
double mean(std::uint64_t count, wide_uint sum);
double deviation(std::uint64_t count, wide_uint sum, wide_uint squares);

// log2 in units of 2^-16, so that sums of it are exact in any order; of 0 as of 1.
constexpr double log_unit = 1.0 / 65536;
std::int64_t fixed_log2(std::uint64_t value);

}  // namespace adaptyst::lib

#endif
