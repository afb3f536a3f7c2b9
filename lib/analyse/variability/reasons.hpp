// Reasons of flagged windows: kernels that took longer, copies, and gaps, each compared with the usual.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_REASONS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_REASONS_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "flags.hpp"
#include "variability.hpp"

namespace adaptyst::lib {

// The flag of a window in numbers.
struct flag_evidence {
  std::size_t window = 0;   // index of the window
  std::optional<double> z;  // empty: the series does not vary
  double z_limit = 0;
  double usual = 0;            // median of the series, in the unit of values
  std::uint64_t compared = 0;  // windows of the series
};

// The parts that the windows were made from, in the order of windows. `texts`: by name number.
struct reason_basis {
  const std::vector<window_entry>& entries;
  const std::vector<std::string>& texts;
  const sums_by_name& sums;
};

// Sets the reasons of the windows with the greatest z, at most `max_reasons`. Memory: that of the flagged windows.
constexpr std::size_t max_reasons = 10'000;
void add_reasons(variability_result& to, const reason_basis& basis, std::vector<flag_evidence> flagged);

}  // namespace adaptyst::lib

#endif
