// From what a user names to what can be probed in a process: which functions in which files.
#ifndef ADAPTYST_LIB_DISCOVER_NAMED_FUNCTIONS_HPP
#define ADAPTYST_LIB_DISCOVER_NAMED_FUNCTIONS_HPP

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "function_request.hpp"

namespace adaptyst::lib {

struct named_functions {
  std::map<std::string, std::vector<function_request>> by_file;
  std::vector<std::string> not_found;  // what was named, and why there is none
};

// `named`: FILE:PATTERN or a set, each. Throws error.
named_functions find_named(const std::vector<std::string>& named, pid_t process);

}  // namespace adaptyst::lib

#endif
