#include "flags.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace adaptyst::lib {

namespace {

// The upper quartile of a normal distribution.
constexpr double quartile_in_deviations = 0.6745;

// Quantile of a normal distribution; `above`: the probability of a larger value.
double normal_quantile(double above) {
  double low = 0, high = 40;
  for (int step = 0; step != 64; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > above ? low : high) = middle;
  }
  return low;
}

// The same for a gamma distribution with this skewness (Wilson and Hilferty 1931). At least the normal quantile: a long
// tail on the other side does not reduce chance on this side.
double skewed_quantile(double normal, double skewness) {
  constexpr double least_skewness = 1e-6;
  if (skewness < least_skewness) return normal;
  const double root = 1 + skewness * normal / 6 - skewness * skewness / 36;
  return std::max(normal, 2 / skewness * (root * root * root - 1));
}

}  // namespace

flag_rule::flag_rule(const variability_settings& settings, std::vector<double> values, std::uint64_t compared,
                     std::uint64_t width_ns)
    : metric_(settings.metric), at_(find_fences(values, settings.iqr)) {
  const auto count = static_cast<double>(values.size());
  median_ = quantile(values, 0.5);
  const double range = at_.q3 - at_.q1;
  const double chance = false_flag_rate / static_cast<double>(std::max<std::uint64_t>(1, compared));
  if (metric_ == variability_metric::duration) {
    constexpr double ranges_in_deviation = 1.349;  // for a normal distribution
    least_ = std::log2(least_ratio);
    scale_ = range / ranges_in_deviation;
    deviations_ = normal_quantile(chance);
    return;
  }
  least_ = metric_ == variability_metric::stall ? least_stall_share * static_cast<double>(width_ns)
                                                : (least_ratio - 1) * median_;
  // An exponential tail, longer than most, from the quarter of windows on the bad side of the median, because quartiles
  // of few windows are uncertain.
  const double to_quartile = metric_ == variability_metric::busy ? median_ - at_.q1 : at_.q3 - median_;
  constexpr double uncertainty = 10;
  tail_ = (-std::log(chance) - std::log(2.0)) / std::log(2.0);
  scale_ = std::max(to_quartile, range / 2) * (1 + uncertainty / std::max(1.0, count));
}

double flag_rule::find_difference(double value) const {
  return metric_ == variability_metric::busy ? median_ - value : value - median_;
}

// For `duration` a standard deviation, otherwise the distance of a quartile from the median.
double flag_rule::find_spread(const window_chance& of) const {
  if (metric_ == variability_metric::duration) return std::max(scale_, of.error);
  if (metric_ != variability_metric::launch_gap) return scale_;
  // The mean of few gaps varies more than that of many.
  return std::max(
      scale_, quartile_in_deviations * median_ / std::sqrt(static_cast<double>(std::max<std::uint64_t>(1, of.count))));
}

bool flag_rule::is_flagged(double value, const window_chance& of) const {
  const bool is_low_bad = metric_ == variability_metric::busy;
  if (!(is_low_bad ? value < at_.lower : value > at_.upper)) return false;
  const double difference = find_difference(value);
  if (difference < least_) return false;
  const double limit = metric_ == variability_metric::duration ? skewed_quantile(deviations_, of.skewness) : tail_;
  return difference > limit * find_spread(of);
}

flag_rule::evidence flag_rule::find_evidence(double value, const window_chance& of) const {
  const bool has_deviations = metric_ == variability_metric::duration;
  const double unit = has_deviations ? 1 : quartile_in_deviations;
  evidence made;
  made.limit = unit * (has_deviations ? skewed_quantile(deviations_, of.skewness) : tail_);
  if (const double spread = find_spread(of); spread > 0) made.z = unit * find_difference(value) / spread;
  return made;
}

double third_log_moment(const name_sums& of) {
  if (of.count == 0) return 0;
  const auto count = static_cast<double>(of.count);
  double sum = 0;
  const auto visit = [&](const auto& add) {
    of.buckets.visit([&](unsigned bucket, std::uint64_t many) {
      const auto low =
          static_cast<double>(std::max<std::uint64_t>(1, std::max(adaptyst_histogram_lower(bucket), of.min)));
      const bool is_last = bucket + 1 >= ADAPTYST_HISTOGRAM_BUCKETS;
      const auto high = static_cast<double>(is_last ? of.max : std::min(adaptyst_histogram_lower(bucket + 1), of.max));
      add((std::log2(low) + std::log2(std::max(low, high))) / 2, static_cast<double>(many));
    });
  };
  visit([&](double log, double many) { sum += log * many; });
  const double mean = sum / count;
  double cubes = 0;
  visit([&](double log, double many) { cubes += many * (log - mean) * (log - mean) * (log - mean); });
  return cubes / count;
}

}  // namespace adaptyst::lib
