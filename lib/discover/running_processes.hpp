// Lists running processes.
#ifndef ADAPTYST_LIB_DISCOVER_RUNNING_PROCESSES_HPP
#define ADAPTYST_LIB_DISCOVER_RUNNING_PROCESSES_HPP

#include <sys/types.h>

#include <vector>

namespace adaptyst::lib {

// Throws error.
std::vector<pid_t> running_processes();

// The running children of a process; empty also if the system does not list them.
std::vector<pid_t> find_children(pid_t process);

// Whether a process belongs to our user; for root, every process does.
bool is_ours(pid_t process);

}  // namespace adaptyst::lib

#endif
