// Functions that users ask for by the name of an interface.
#ifndef ADAPTYST_LIB_DISCOVER_FUNCTION_SETS_HPP
#define ADAPTYST_LIB_DISCOVER_FUNCTION_SETS_HPP

#include <string_view>
#include <vector>

#include "function_request.hpp"

namespace adaptyst::lib {

// mpi, opencl, cuda, hip, openmp, blas, io or malloc. Libraries that are not loaded do no harm. Throws error for
// another name.
std::vector<function_request> find_set(std::string_view name);

// The names of all sets.
std::vector<std::string_view> function_set_names();

// Reads what a user has named: such a set, or FILE:PATTERN. Throws error.
std::vector<function_request> parse_requests(std::string_view text);

}  // namespace adaptyst::lib

#endif
