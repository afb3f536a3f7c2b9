// The mean of repeated measurements without the extreme ones, and how far it may be off. Pure.
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_TRIMMED_MEAN_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_TRIMMED_MEAN_HPP

#include <cstddef>
#include <optional>
#include <vector>

namespace adaptyst::lib {

struct estimate {
  double value = 0;
  std::optional<double> error;  // standard error; absent: of one measurement nothing is known
  std::size_t count = 0;        // measurements
};

// How many trimmed_mean() leaves out at each end.
std::size_t count_trimmed(std::size_t count, double fraction);

// Of none: empty. Of fewer than three: the mean; of three: the median; of more: the mean of what is left without the
// floor(n * fraction) least and as many greatest ones. Where that is none, as of four at 0.2, all are kept. `fraction`:
// 0 to below 0.5.
//
// The error is Yuen's (1974), from the winsorised sum of squares; where nothing is trimmed, that is s / sqrt(n). Of three
// it is that of their mean.
std::optional<estimate> trimmed_mean(std::vector<double> values, double fraction);

// a - b, of measurements that have nothing to do with each other.
estimate difference(const estimate& a, const estimate& b);

}  // namespace adaptyst::lib

#endif
