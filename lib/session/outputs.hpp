// Where a profile goes when a session ends.
#ifndef ADAPTYST_LIB_SESSION_OUTPUTS_HPP
#define ADAPTYST_LIB_SESSION_OUTPUTS_HPP

#include <adaptyst/profile.hpp>

#include "../support/options.hpp"

namespace adaptyst::lib {

// To standard error and to files, as was asked for; stacks and timelines have been written by then. Throws error when a
// file cannot be written, after the others have been.
void put_out(const profile& what, const options& asked);

}  // namespace adaptyst::lib

#endif
