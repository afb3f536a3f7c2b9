// How ranks differ that were observed together, from outside.
#ifndef ADAPTYST_LIB_SESSION_RANK_SPREADS_HPP
#define ADAPTYST_LIB_SESSION_RANK_SPREADS_HPP

#include <adaptyst/profile.hpp>

#include "../model/ranks.hpp"
#include "target.hpp"

namespace adaptyst::lib {

// Of what their recorders have counted, and the kernel; null: that is not known of each. Nothing of fewer than two ranks.
void set_rank_spreads(profile& profile, const process_list& all, const rank_times* of_kernel);

}  // namespace adaptyst::lib

#endif
