// Limits estimates: nested regions take no longer than the region around them, and a thread no longer than the run.
// Estimates from sampled events may exceed this, because a few recorded events represent many, and an interruption of
// one counts for all of them.
#ifndef ADAPTYST_LIB_MODEL_BOUNDED_TOTALS_HPP
#define ADAPTYST_LIB_MODEL_BOUNDED_TOTALS_HPP

#include <adaptyst/profile.hpp>

namespace adaptyst::lib {

// If estimated totals are more than a tenth too large, reduces them to the run and to the known time of the region
// around them. Their error is then the remaining uncertainty. Does nothing if events are open or lost, because the time
// of the region around them is then incomplete. Regions must follow their parents.
void bound_estimated_totals(profile& in);

}  // namespace adaptyst::lib

#endif
