// Which functions of an interface a program really imports from libraries: mostly few of many.
#ifndef ADAPTYST_LIB_DISCOVER_IMPORTED_FUNCTIONS_HPP
#define ADAPTYST_LIB_DISCOVER_IMPORTED_FUNCTIONS_HPP

#include <set>
#include <string>
#include <vector>

namespace adaptyst::lib {

// Those functions of `wanted` that any of these files has as undefined dynamic symbols. Ignored are the libraries that
// define them, `from`, and files whose names begin like one of these: libmpi_cxx.so calls all of libmpi.so.
std::set<std::string> imported_functions(const std::vector<std::string>& files, const std::set<std::string>& wanted,
                                         const std::set<std::string>& from);

}  // namespace adaptyst::lib

#endif
