// Finds the functions that a user has named: which functions in which files.
#ifndef ADAPTYST_LIB_DISCOVER_NAMED_FUNCTIONS_HPP
#define ADAPTYST_LIB_DISCOVER_NAMED_FUNCTIONS_HPP

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../support/error.hpp"
#include "function_request.hpp"

namespace adaptyst::lib {

struct named_functions {
  std::map<std::string, std::vector<function_request>> by_file;
  std::vector<error> not_found;  // what was named, and why there is none
};

// `named`: FILE:PATTERN or a set, each; `files`: where the file of a request is, see files_for(). Throws error.
named_functions find_named(const std::vector<std::string>& named,
                           const std::function<std::vector<std::string>(const function_request&)>& files);

// Which functions of an interface a program really imports from libraries: mostly few of many.

// Those functions of `wanted` that any of these files has as undefined dynamic symbols. Ignored are the libraries that
// define them, `from`, and files whose names begin like one of these: libmpi_cxx.so calls all of libmpi.so.
std::set<std::string> imported_functions(const std::vector<std::string>& files, const std::set<std::string>& wanted,
                                         const std::set<std::string>& from);

}  // namespace adaptyst::lib

#endif
