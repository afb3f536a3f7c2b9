// Whose events the BPF programs listen to.
#ifndef ADAPTYST_LIB_RECORD_AUDIENCE_HPP
#define ADAPTYST_LIB_RECORD_AUDIENCE_HPP

#include "../../probes/record.h"

namespace adaptyst::lib {

// Where a link reports the events of everybody.
enum class audience {
  everybody,     // the link itself tells processes apart
  this_process,  // it cannot
  listed,        // those in a map
};

// Processes are known by the numbers that they have in our own PID namespace. Throws error.
adaptyst_kernel_filter filter_for(audience whose);

}  // namespace adaptyst::lib

#endif
