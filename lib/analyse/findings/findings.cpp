#include <adaptyst/profile/findings.hpp>
#include <algorithm>

#include "detectors.hpp"

namespace adaptyst { inline namespace v1 {

std::vector<finding> analyse(const profile& profile) {
  lib::findings all;
  for (const auto& find :
       {lib::find_lock_waits, lib::find_core_waits, lib::find_io_waits, lib::find_page_faults,
        lib::find_thread_imbalance, lib::find_long_tails, lib::find_fine_markers, lib::find_starved_devices,
        lib::find_exposed_copies, lib::find_launch_bound_devices, lib::find_rank_imbalance, lib::find_slow_ranks,
        lib::find_late_ranks, lib::find_heap_churn, lib::find_heap_growth})
    find(profile, all);
  std::stable_sort(all.begin(), all.end(), [](const finding& a, const finding& b) { return a.share > b.share; });
  return all;
}

}}  // namespace adaptyst::v1
