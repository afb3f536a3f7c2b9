// Writes a profile when a session ends.
#ifndef ADAPTYST_LIB_SESSION_OUTPUTS_HPP
#define ADAPTYST_LIB_SESSION_OUTPUTS_HPP

#include <adaptyst/options.hpp>
#include <adaptyst/profile.hpp>

#include "../report/foreign_forms.hpp"
#include "output_names.hpp"

namespace adaptyst::lib {

// Writes a profile to standard error and to files, as the options specify, and reports the names of the files; stacks and
// timelines have been written before. `listed`: as for write_profile_as(). If a file cannot be written, writes
// the others, then throws error.
void put_out(const profile& what, const options& options, output_names& names, metrics_regions* listed = nullptr);

}  // namespace adaptyst::lib

#endif
