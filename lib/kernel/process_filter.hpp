// Whose events the BPF programs listen to.
#ifndef ADAPTYST_LIB_KERNEL_PROCESS_FILTER_HPP
#define ADAPTYST_LIB_KERNEL_PROCESS_FILTER_HPP

#include <sys/types.h>

#include "../../probes/kernel_layout.h"

namespace adaptyst::lib {

// Where a link reports the events of everybody.
enum class process_filter {
  all,           // the link itself tells processes apart
  this_process,  // it cannot
  listed,        // those in a map
};

// Processes are known by the numbers that they have in our own PID namespace. Throws error.
adaptyst_kernel_filter filter_for(process_filter whose);

// Puts a process into the map of those that are listed, or takes it out. Throws error.
void add_process(int map, pid_t process, const adaptyst_kernel_process& known);
void remove_process(int map, pid_t process);

}  // namespace adaptyst::lib

#endif
