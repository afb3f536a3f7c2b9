// Where a profile goes when a session ends.
#ifndef ADAPTYST_LIB_SESSION_OUTPUTS_HPP
#define ADAPTYST_LIB_SESSION_OUTPUTS_HPP

#include <adaptyst/options.hpp>
#include <adaptyst/profile.hpp>

#include "output_names.hpp"

namespace adaptyst::lib {

// To standard error and to files, as was asked for, and tells which these are; stacks and timelines have been written
// by then. Throws error when a file cannot be written, after the others have been.
void put_out(const profile& what, const options& options, output_names& to);

}  // namespace adaptyst::lib

#endif
