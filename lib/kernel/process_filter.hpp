// Of which processes the BPF programs count events.
#ifndef ADAPTYST_LIB_KERNEL_PROCESS_FILTER_HPP
#define ADAPTYST_LIB_KERNEL_PROCESS_FILTER_HPP

#include <sys/types.h>

#include "../../probes/kernel_layout.h"

namespace adaptyst::lib {

// What the BPF programs themselves have to filter: a link may report the events of all processes.
enum class process_filter {
  all,           // nothing: the link is of one process already, or all processes are wanted
  this_process,  // count this process only
  listed,        // count the processes in a map only
};

// Processes are known by the numbers that they have in our own PID namespace. Throws error.
adaptyst_kernel_filter filter_for(process_filter filter);

// Puts a process into the map of those that are listed, or takes it out. Throws error.
void add_process(int map, pid_t process, const adaptyst_kernel_process& known);
void remove_process(int map, pid_t process);

}  // namespace adaptyst::lib

#endif
