// Where the files are that a request for functions may mean.
#ifndef ADAPTYST_LIB_DISCOVER_LIBRARY_FILES_HPP
#define ADAPTYST_LIB_DISCOVER_LIBRARY_FILES_HPP

#include <sys/types.h>

#include <string>
#include <vector>

#include "function_request.hpp"

namespace adaptyst::lib {

// The path that the request spells; else what a process has mapped; else libraries with that name where the loader would
// look for them: LD_LIBRARY_PATH and the system's directories. Each file once.
std::vector<std::string> files_for(const function_request& request, pid_t process);

}  // namespace adaptyst::lib

#endif
