// How deep the recorders of a process look: tells the process, for markers that it will meet, and puts those that it has
// met already in or out.
#ifndef ADAPTYST_LIB_RECORDER_SITE_LEVELS_HPP
#define ADAPTYST_LIB_RECORDER_SITE_LEVELS_HPP

#include <adaptyst/detail/levels.hpp>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

// To be called before an epoch begins, after reset_steps(). Of a process without a state: nothing happens.
void set_levels(const process_state& state, const detail::level_settings& levels);

}  // namespace adaptyst::lib

#endif
