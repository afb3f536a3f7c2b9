// The processes that run.
#ifndef ADAPTYST_LIB_DISCOVER_RUNNING_PROCESSES_HPP
#define ADAPTYST_LIB_DISCOVER_RUNNING_PROCESSES_HPP

#include <sys/types.h>

#include <vector>

namespace adaptyst::lib {

// Throws error.
std::vector<pid_t> running_processes();

// That it has started, and that run; none where it cannot be told.
std::vector<pid_t> find_children(pid_t process);

// Whether it is our user's; for root, each is.
bool is_ours(pid_t process);

}  // namespace adaptyst::lib

#endif
