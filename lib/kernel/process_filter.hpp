// Selects the processes that the BPF programs observe.
#ifndef ADAPTYST_LIB_KERNEL_PROCESS_FILTER_HPP
#define ADAPTYST_LIB_KERNEL_PROCESS_FILTER_HPP

#include <sys/types.h>

#include "../../probes/kernel_layout.h"

namespace adaptyst::lib {

// The filter in the BPF programs, since a link may report the events of all processes.
enum class process_filter {
  all,           // no filter: the link has one process, or all processes are needed
  this_process,  // only this process
  listed,        // only the processes in a map
};

// Processes are identified by their numbers in the PID namespace of this process. Throws error.
adaptyst_kernel_filter filter_for(process_filter filter);

// Adds a process to the map of listed processes, or removes it. Throws error.
void add_process(int map, pid_t process, const adaptyst_kernel_process& identity);
void remove_process(int map, pid_t process);

}  // namespace adaptyst::lib

#endif
