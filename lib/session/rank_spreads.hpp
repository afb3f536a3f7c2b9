// How ranks differ that were observed together, from outside.
#ifndef ADAPTYST_LIB_SESSION_RANK_SPREADS_HPP
#define ADAPTYST_LIB_SESSION_RANK_SPREADS_HPP

#include <adaptyst/profile.hpp>

#include "target.hpp"

namespace adaptyst::lib {

// Of what their recorders have counted: the kernel's rows do not say whose they are. Nothing of fewer than two ranks.
void add_rank_spreads(profile& to, const target_list& targets);

}  // namespace adaptyst::lib

#endif
