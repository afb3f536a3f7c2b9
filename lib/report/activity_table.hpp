// The current activity as text, for `adaptyst top`.
#ifndef ADAPTYST_LIB_REPORT_ACTIVITY_TABLE_HPP
#define ADAPTYST_LIB_REPORT_ACTIVITY_TABLE_HPP

#include <cstddef>
#include <optional>
#include <string>

#include "../model/activity.hpp"

namespace adaptyst { inline namespace v1 {

// The figure by which regions are sorted, the greatest first.
enum class activity_order { self, total, rate, so_far };

struct activity_view {
  std::size_t columns = 100;
  std::size_t lines = 0;     // maximum of the whole text; 0: no limit
  std::size_t regions = 20;  // maximum
  activity_order order = activity_order::self;
  bool has_colour = false;
  std::optional<double> observer_cpu;  // the observer's CPU time as a fraction of a processor; empty: not shown
};

// Replaces control characters in names.
std::string to_table(const activity& activity, const activity_view& view = {});

}}  // namespace adaptyst::v1

#endif
