// Each function adds the findings of one kind. Thresholds are next to their use; shared ones are in run.hpp.
#ifndef ADAPTYST_LIB_ANALYSE_FINDINGS_DETECTORS_HPP
#define ADAPTYST_LIB_ANALYSE_FINDINGS_DETECTORS_HPP

#include <adaptyst/profile/findings.hpp>
#include <vector>

namespace adaptyst::lib {

using findings = std::vector<finding>;

void find_lock_waits(const profile& in, findings& all_findings);
void find_core_waits(const profile& in, findings& all_findings);
void find_io_waits(const profile& in, findings& all_findings);
void find_page_faults(const profile& in, findings& all_findings);
void find_thread_imbalance(const profile& in, findings& all_findings);
void find_long_tails(const profile& in, findings& all_findings);
void find_fine_markers(const profile& in, findings& all_findings);
void find_starved_devices(const profile& in, findings& all_findings);
void find_exposed_copies(const profile& in, findings& all_findings);
void find_launch_bound_devices(const profile& in, findings& all_findings);
void find_rank_imbalance(const profile& in, findings& all_findings);
void find_slow_ranks(const profile& in, findings& all_findings);
void find_late_ranks(const profile& in, findings& all_findings);
void find_heap_churn(const profile& in, findings& all_findings);
void find_heap_growth(const profile& in, findings& all_findings);

}  // namespace adaptyst::lib

#endif
