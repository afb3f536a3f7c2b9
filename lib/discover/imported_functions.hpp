// What a program takes from libraries: of the functions that an interface has, the few that concern it.
#ifndef ADAPTYST_LIB_DISCOVER_IMPORTED_FUNCTIONS_HPP
#define ADAPTYST_LIB_DISCOVER_IMPORTED_FUNCTIONS_HPP

#include <set>
#include <string>
#include <vector>

namespace adaptyst::lib {

// Those of `wanted` that any of these files leaves undefined in its dynamic symbols. Passed over are files of the
// libraries that have them, `from`, and those that are called after one of them: libmpi_cxx.so calls all of libmpi.so.
std::set<std::string> imported_functions(const std::vector<std::string>& files, const std::set<std::string>& wanted,
                                         const std::set<std::string>& from);

}  // namespace adaptyst::lib

#endif
