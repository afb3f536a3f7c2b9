// Stretches of time, half-open, and what they cover.
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
// `from` without `less`; both united.
std::vector<interval> subtract(const std::vector<interval>& from, const std::vector<interval>& less);
// What of them is in each window: `begin` is where the first begins. Added up over windows, nothing is lost or counted twice.
void add_to_windows(const std::vector<interval>& all, std::uint64_t begin, std::uint64_t window_ns,
                    std::vector<std::uint64_t>& covered);

}  // namespace adaptyst::lib

#endif
