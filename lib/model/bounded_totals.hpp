// What is nested in a region takes no longer than the region, and what a thread does no longer than the run. Estimates of
// thinned regions may say otherwise: few timed events stand for many, and one that the machine has interrupted for all of
// them.
#ifndef ADAPTYST_LIB_MODEL_BOUNDED_TOTALS_HPP
#define ADAPTYST_LIB_MODEL_BOUNDED_TOTALS_HPP

#include <adaptyst/profile.hpp>

namespace adaptyst::lib {

// Brings estimated totals that are more than a tenth too large down to the run, and to the region around them where its time
// is known, and states as their error what is left of doubt. Does nothing where events are open or lost: the time of the region around
// them is not all known then. Regions stand behind their parents.
void bound_estimated_totals(profile& in);

}  // namespace adaptyst::lib

#endif
