// Quantiles, fences and correlations, as docs/variability.md defines them. Pure and deterministic for the same order of
// values; quantiles in any order.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_STATISTICS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_STATISTICS_HPP

#include <cstdint>
#include <optional>
#include <vector>

namespace adaptyst::lib {

// For sums of squares of times: 128 bits hold 2^36 squares of 19.5 hours.
__extension__ using wide_uint = unsigned __int128;

// The quantile of type 7 (Hyndman and Fan 1996; the default of R and numpy): linear interpolation at (n - 1) q.
// Reorders the values; 0 for no values.
double quantile(std::vector<std::uint64_t>& values, double q);
double quantile(std::vector<double>& values, double q);

// Tukey's fences around the quartiles.
struct fences {
  double q1 = 0, q3 = 0, lower = 0, upper = 0;
};
fences find_fences(std::vector<double> values, double k);

// Empty: undefined, because one side is constant or there are fewer than two pairs.
std::optional<double> pearson(const std::vector<double>& x, const std::vector<double>& y);
// Pearson's correlation of the ranks; equal values share their mean rank.
std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y);

// Mean and standard deviation (divided by n, not n - 1), from an exact count, sum and sum of squares.
double mean(std::uint64_t count, wide_uint sum);
double deviation(std::uint64_t count, wide_uint sum, wide_uint squares);

// log2 in units of 2^-16, so that sums are exact in any order; log2 of 0 is 0, as for 1.
constexpr double log_unit = 1.0 / 65536;
std::int64_t fixed_log2(std::uint64_t value);

}  // namespace adaptyst::lib

#endif
