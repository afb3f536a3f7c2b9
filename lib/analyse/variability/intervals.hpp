// Stretches of time, half-open, of which several may cover the same.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_INTERVALS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_INTERVALS_HPP

#include <cstdint>
#include <vector>

namespace adaptyst::lib {

struct interval {
  std::uint64_t begin = 0, end = 0;
};

// Those that overlap or touch become one; `all`: in the order of their begins.
void unite(std::vector<interval>& all);

}  // namespace adaptyst::lib

#endif
