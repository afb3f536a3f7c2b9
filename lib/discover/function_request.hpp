// Functions as a user names them: a file and a pattern, "libmpi.so:MPI_*" or "./solver:compute_flux(*)".
#ifndef ADAPTYST_LIB_DISCOVER_FUNCTION_REQUEST_HPP
#define ADAPTYST_LIB_DISCOVER_FUNCTION_REQUEST_HPP

#include <string>
#include <string_view>
#include <vector>

#include "function_request.hpp"

namespace adaptyst::lib {

struct function_request {
  std::string file;  // a path if it has a slash; otherwise the name of a library or program, or how it begins
  std::string
      glob;  // over symbols, and over C++ names without arguments; with "(" or "::", over whole C++ names as well
};

// Throws error when the text is not FILE:PATTERN.
function_request parse_function(std::string_view text);

// Whether the request is for this file, as the loader names it: "libmpi.so" is for …/libmpi.so.40.30.4, a path for the
// file that it leads to.
bool is_for(const function_request& request, const std::string& file);

// `*` stands for any text, `?` for one character, all others for themselves: C++ names are full of brackets.
bool matches(std::string_view glob, std::string_view text);

// Whether the pattern is meant for demangled names.
bool is_cxx(std::string_view glob);

// Functions that users ask for by the name of an interface.

// mpi, opencl, cuda, hip, openmp, blas, io or malloc. Libraries that are not loaded do no harm. Throws error for
// another name.
std::vector<function_request> find_set(std::string_view name);

// The names of all sets.
std::vector<std::string_view> function_set_names();

// Reads what a user has named: such a set, or FILE:PATTERN. Throws error.
std::vector<function_request> parse_requests(std::string_view text);

// Functions in which a thread waits for others, by their names in the interfaces that the sets of functions know.

// Such a call mostly takes long, so the cost of a probe on it is small in comparison, whatever its first instruction
// is. The same for its names in Fortran, mpi_waitall_ and MPI_WAITALL.
bool waits_for_others(std::string_view symbol);

}  // namespace adaptyst::lib

#endif
