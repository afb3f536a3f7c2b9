// Whose events the BPF programs listen to.
#ifndef ADAPTYST_LIB_KERNEL_AUDIENCE_HPP
#define ADAPTYST_LIB_KERNEL_AUDIENCE_HPP

#include <sys/types.h>

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

// Puts a process into the map of those that are listed, or takes it out. Throws error.
void admit(int map, pid_t process, const adaptyst_kernel_process& known);
void dismiss(int map, pid_t process);

}  // namespace adaptyst::lib

#endif
