// What happens now, for people: what `adaptyst top` shows.
#ifndef ADAPTYST_LIB_REPORT_ACTIVITY_TABLE_HPP
#define ADAPTYST_LIB_REPORT_ACTIVITY_TABLE_HPP

#include <cstddef>
#include <optional>
#include <string>

#include "../model/activity.hpp"

namespace adaptyst { inline namespace v1 {

// What regions are listed by, the greatest first.
enum class activity_order { self, total, rate, so_far };

struct activity_view {
  std::size_t columns = 100;
  std::size_t lines = 0;     // of all that is shown, at most; 0: as many as it takes
  std::size_t regions = 20;  // at most
  activity_order order = activity_order::self;
  std::optional<double> observer_cpu;  // what the observer itself used of a processor, to be shown as well
};

// For people; names do no harm to a terminal.
std::string to_table(const activity& activity, const activity_view& view = {});

}}  // namespace adaptyst::v1

#endif
