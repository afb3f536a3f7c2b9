// When a window differs from the others of its series by more than chance, as docs/variability.md defines it. Pure.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_FLAGS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_FLAGS_HPP

#include <cstdint>
#include <vector>

#include "statistics.hpp"
#include "variability.hpp"

namespace adaptyst::lib {

// Of traces in which nothing is wrong, this share has a flagged window at most.
constexpr double false_flag_rate = 0.01;
// A window that differs by less is never flagged: as a ratio, and for stalls as a share of the window.
constexpr double least_ratio = 1.05, least_stall_share = 0.01;

// By how much the value of a window varies by chance: that of `duration`, by the spread of the durations of each name and by
// how many ran. `skewness`: of that value's distribution.
struct window_chance {
  double error = 0, skewness = 0;
  std::uint64_t count = 0;  // of spans that start in the window
};

class flag_rule {
 public:
  // `values`: of the series, in the unit in which windows are compared; `compared`: windows of all series.
  flag_rule(const variability_settings& settings, std::vector<double> values, std::uint64_t compared,
            std::uint64_t width_ns);

  const fences& at() const noexcept { return at_; }
  bool is_flagged(double value, const window_chance& of) const;

 private:
  variability_metric metric_;
  fences at_;
  double median_ = 0, least_ = 0, scale_ = 0, deviations_ = 0, tail_ = 0;
};

// Third central moment of log2 of the durations, from the histogram.
double third_log_moment(const name_sums& of);

}  // namespace adaptyst::lib

#endif
