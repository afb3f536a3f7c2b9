// Which regions the threads of a process are in.
#ifndef ADAPTYST_LIB_RECORDER_OPEN_REGIONS_HPP
#define ADAPTYST_LIB_RECORDER_OPEN_REGIONS_HPP

#include "../profile/context.hpp"
#include "recorder_reader.hpp"

namespace adaptyst::lib {

// By path: of all scopes that are open and were begun for this collector. Threads run on meanwhile: of one that enters or
// leaves a region just then, either may be told.
open_counts read_open_regions(const process_state& of);

}  // namespace adaptyst::lib

#endif
