// The time of one step of a loop: a quantile over rounds, so that an interruption does not count.
#ifndef ADAPTYST_LIB_SUPPORT_STOPWATCH_HPP
#define ADAPTYST_LIB_SUPPORT_STOPWATCH_HPP

#include <cstddef>
#include <cstdint>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <array>
#include <utility>

namespace adaptyst::lib {

constexpr unsigned stopwatch_rounds = 9;

template <class Step>
double quantile_step_ns(double quantile, unsigned steps, Step&& step) {
  std::array<double, stopwatch_rounds> rounds{};
  for (double& round : rounds) {
    const std::uint64_t begin = detail::monotonic_ns();
    for (unsigned at = 0; at != steps; ++at) step();
    round = static_cast<double>(detail::monotonic_ns() - begin) / steps;
  }
  const auto wanted = rounds.begin() + static_cast<std::ptrdiff_t>(quantile * (stopwatch_rounds - 1));
  std::nth_element(rounds.begin(), wanted, rounds.end());
  return *wanted;
}

template <class Step>
double median_step_ns(unsigned steps, Step&& step) {
  return quantile_step_ns(0.5, steps, std::forward<Step>(step));
}

}  // namespace adaptyst::lib

#endif
