// Allocations and frees of the C heap: from the rows of the heap adapter, and of a whole profile.
#ifndef ADAPTYST_LIB_MODEL_HEAP_USAGE_HPP
#define ADAPTYST_LIB_MODEL_HEAP_USAGE_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measurements.hpp"

namespace adaptyst::lib {

// The rows of kind ADAPTYST_SITE_HEAP below one region. Their numbers have the names in adapter/heap_event.hpp.
class heap_rows {
 public:
  void add(const measured_row& row, const measured_site& site);
  // Empty: no row was added.
  std::optional<heap_usage> usage() const;

 private:
  std::map<std::string, attribute, std::less<>> numbers_;
};

// All regions together.
struct heap_totals {
  heap_usage sums;                          // with the high-water mark
  std::optional<std::uint64_t> live_bytes;  // at the end; absent: frees of untracked blocks are unknown
  std::uint64_t high_water_region = 0;      // id of the region in which the high-water mark was reached; 0: unknown
};
// Removes the frees and marks that are too small, because frees of untracked blocks are unknown. For one process.
void omit_unknown_heap(std::vector<region>& regions);

// Empty: no allocation was recorded.
std::optional<heap_totals> add_up_heap(const profile& in);

}  // namespace adaptyst::lib

#endif
