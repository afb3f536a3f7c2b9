// Whether a window differs from its series by more than chance, as docs/variability.md defines it. Pure.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_FLAGS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_FLAGS_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include "statistics.hpp"
#include "variability.hpp"

namespace adaptyst::lib {

// The highest share of traces without a fault that have a flagged window.
constexpr double false_flag_rate = 0.01;
// Smaller differences are never flagged: a ratio, and for stalls a share of the window.
constexpr double least_ratio = 1.05, least_stall_share = 0.01;

// The variation of a window's value by chance. For `duration`, it follows from the spread and number of the durations
// of each name. `skewness`: of the distribution of that value.
struct window_chance {
  double error = 0, skewness = 0;
  std::uint64_t count = 0;  // spans that start in the window
};

class flag_rule {
 public:
  // `values`: of the series, in the unit of the comparison; `compared`: windows of all series.
  flag_rule(const variability_settings& settings, std::vector<double> values, std::uint64_t compared,
            std::uint64_t width_ns);

  const fences& at() const noexcept { return at_; }
  double median() const noexcept { return median_; }
  bool is_flagged(double value, const window_chance& of) const;

  // The difference from the median on the bad side, in standard deviations, and the limit of the third condition.
  struct evidence {
    std::optional<double> z;  // empty: nothing varies
    double limit = 0;
  };
  evidence find_evidence(double value, const window_chance& of) const;

 private:
  double find_difference(double value) const;
  double find_spread(const window_chance& of) const;

  variability_metric metric_;
  fences at_;
  double median_ = 0, least_ = 0, scale_ = 0, deviations_ = 0, tail_ = 0;
};

// Third central moment of log2 of the durations, from the histogram.
double third_log_moment(const name_sums& of);

}  // namespace adaptyst::lib

#endif
