// Machines of several profiles.
#ifndef ADAPTYST_LIB_MODEL_MACHINES_HPP
#define ADAPTYST_LIB_MODEL_MACHINES_HPP

#include <adaptyst/profile.hpp>
#include <vector>

namespace adaptyst::lib {

// Each host once, up to profile::max_machines: those that come first by the alphabet. Of two descriptions, as of a job
// that may use a part of the machine only, that which says more. `all` has been made so; the order of adding leaves no trace.
void add_machines(std::vector<machine>& all, const std::vector<machine>& more);

}  // namespace adaptyst::lib

#endif
