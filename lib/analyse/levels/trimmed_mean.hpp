// The mean of repeated measurements without the extreme ones, and the standard error. Pure.
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_TRIMMED_MEAN_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_TRIMMED_MEAN_HPP

#include <cstddef>
#include <optional>
#include <vector>

namespace adaptyst::lib {

struct estimate {
  double value = 0;
  std::optional<double> error;  // standard error; absent for one measurement
  std::size_t count = 0;        // number of measurements
};

// The number of values that trimmed_mean() removes at each end.
std::size_t count_trimmed(std::size_t count, double fraction);

// Empty for no values. Fewer than three: the mean. Three: the median. More: the mean without the floor(n * fraction)
// least and greatest values; if none would remain, as for four at 0.2, all are kept. `fraction`: from 0 to below 0.5.
//
// The error is Yuen's (1974), from the winsorised sum of squares; without trimming it is s / sqrt(n). For three values
// it is the error of their mean.
std::optional<estimate> trimmed_mean(std::vector<double> values, double fraction);

// a - b for independent measurements.
estimate difference(const estimate& a, const estimate& b);

}  // namespace adaptyst::lib

#endif
