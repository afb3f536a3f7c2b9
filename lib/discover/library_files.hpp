// Finds the files that a request for functions may mean.
#ifndef ADAPTYST_LIB_DISCOVER_LIBRARY_FILES_HPP
#define ADAPTYST_LIB_DISCOVER_LIBRARY_FILES_HPP

#include <sys/types.h>

#include <string>
#include <vector>

#include "function_request.hpp"

namespace adaptyst::lib {

// The path that the request spells; else what a process has mapped; else all libraries with that name where the loader
// would look for them. Each file once.
std::vector<std::string> files_for(const function_request& request, pid_t process);

// The same for a command that has not begun: the words of it that name programs, and all libraries with that name where
// the loader would look for those of any of them. `mpirun -n 2 solver` uses no MPI library itself, but its solver does.
std::vector<std::string> files_for(const function_request& request, const std::vector<std::string>& command);

// What a process has mapped of programs and libraries.
std::vector<std::string> list_files(pid_t process);

// The programs that a command's words name, and all libraries that these need, as far as they name them themselves.
std::vector<std::string> list_files(const std::vector<std::string>& command);

}  // namespace adaptyst::lib

#endif
