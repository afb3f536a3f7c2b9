// The time of one step of a loop: the median over rounds, so that an interruption does not count.
#ifndef ADAPTYST_LIB_SUPPORT_STOPWATCH_HPP
#define ADAPTYST_LIB_SUPPORT_STOPWATCH_HPP

#include <cstdint>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <array>

namespace adaptyst::lib {

constexpr unsigned stopwatch_rounds = 9;

template <class Step>
double median_step_ns(unsigned steps, Step&& step) {
  std::array<double, stopwatch_rounds> rounds{};
  for (double& round : rounds) {
    const std::uint64_t begin = detail::monotonic_ns();
    for (unsigned at = 0; at != steps; ++at) step();
    round = static_cast<double>(detail::monotonic_ns() - begin) / steps;
  }
  std::nth_element(rounds.begin(), rounds.begin() + rounds.size() / 2, rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace adaptyst::lib

#endif
