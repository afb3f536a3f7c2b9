// Only formulas; docs/variability.md has them with their sources.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace adaptyst::lib {

namespace {

template <class Value>
double find_quantile(std::vector<Value>& values, double q) {
  if (values.empty()) return 0;
  const double at = static_cast<double>(values.size() - 1) * q;
  const auto below = static_cast<std::size_t>(at);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), place, values.end());
  const auto low = static_cast<double>(*place);
  if (static_cast<double>(below) == at || below + 1 == values.size()) return low;
  const auto high = static_cast<double>(*std::min_element(place + 1, values.end()));
  return low + (high - low) * (at - static_cast<double>(below));
}

std::vector<double> rank(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin != order.size();) {
    std::size_t end = begin;
    while (end != order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + end - 1) / 2;
    for (; begin != end; ++begin) ranks[order[begin]] = shared;
  }
  return ranks;
}

double average(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double quantile(std::vector<std::uint64_t>& values, double q) { return find_quantile(values, q); }
double quantile(std::vector<double>& values, double q) { return find_quantile(values, q); }

fences find_fences(std::vector<double> values, double k) {
  const double q1 = quantile(values, 0.25), q3 = quantile(values, 0.75);
  return {q1, q3, q1 - k * (q3 - q1), q3 + k * (q3 - q1)};
}

std::optional<double> pearson(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 2) return std::nullopt;
  const double mean_x = average(x), mean_y = average(y);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t at = 0; at != x.size(); ++at) {
    const double dx = x[at] - mean_x, dy = y[at] - mean_y;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  if (!(xx > 0) || !(yy > 0)) return std::nullopt;
  return std::clamp(xy / std::sqrt(xx) / std::sqrt(yy), -1.0, 1.0);
}

std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y) {
  return pearson(rank(x), rank(y));
}

double mean(std::uint64_t count, wide_uint sum) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

// Computed around the integer part of the mean, to avoid cancellation: the terms wrap around, and the rest is small.
double deviation(std::uint64_t count, wide_uint sum, wide_uint squares) {
  if (count == 0) return 0;
  const wide_uint whole = sum / count;
  const auto n = static_cast<double>(count);
  const double rest = static_cast<double>(sum % count) / n;
  const wide_uint about = squares - 2 * whole * sum + whole * whole * count;
  return std::sqrt(std::max(0.0, static_cast<double>(about) / n - rest * rest));
}

std::int64_t fixed_log2(std::uint64_t value) {
  return value < 2 ? 0 : std::llrint(std::log2(static_cast<double>(value)) / log_unit);
}

}  // namespace adaptyst::lib
