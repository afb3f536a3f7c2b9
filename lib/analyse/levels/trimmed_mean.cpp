#include "levels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace adaptyst::lib {

namespace {

// `sorted`: ascending; `trimmed`: the number of values removed at each end.
double standard_error(const std::vector<double>& sorted, std::size_t trimmed) {
  std::vector<double> winsorised = sorted;
  for (std::size_t at = 0; at != trimmed; ++at) {
    winsorised[at] = sorted[trimmed];
    winsorised[sorted.size() - 1 - at] = sorted[sorted.size() - 1 - trimmed];
  }
  const auto count = static_cast<double>(sorted.size());
  const double mean = std::accumulate(winsorised.begin(), winsorised.end(), 0.0) / count;
  double squares = 0;
  for (const double value : winsorised) squares += (value - mean) * (value - mean);
  const auto kept = static_cast<double>(sorted.size() - 2 * trimmed);
  return std::sqrt(squares / (kept * (kept - 1)));
}

}  // namespace

std::size_t count_trimmed(std::size_t count, double fraction) {
  if (count < 3) return 0;
  // The median of three values is the mean without the extremes. At least two of more values are kept, so that the
  // error exists.
  if (count == 3) return 1;
  const auto wanted = static_cast<std::size_t>(std::floor(static_cast<double>(count) * fraction + 1e-9));
  return std::min(wanted, (count - 2) / 2);
}

std::optional<estimate> trimmed_mean(std::vector<double> values, double fraction) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const std::size_t trimmed = count_trimmed(count, fraction);
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(trimmed);
  const auto last = values.end() - static_cast<std::ptrdiff_t>(trimmed);
  estimate made;
  made.count = count;
  made.value = std::accumulate(first, last, 0.0) / static_cast<double>(count - 2 * trimmed);
  if (count > 1) made.error = standard_error(values, count == 3 ? 0 : trimmed);
  return made;
}

estimate difference(const estimate& a, const estimate& b) {
  estimate made;
  made.value = a.value - b.value;
  made.count = std::min(a.count, b.count);
  if (a.error && b.error) made.error = std::hypot(*a.error, *b.error);
  return made;
}

}  // namespace adaptyst::lib
