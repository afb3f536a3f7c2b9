// Functions as a user names them: a file and a pattern, "libmpi.so:MPI_*" or "./solver:compute_flux(*)".
#ifndef ADAPTYST_LIB_DISCOVER_FUNCTION_REQUEST_HPP
#define ADAPTYST_LIB_DISCOVER_FUNCTION_REQUEST_HPP

#include <string>
#include <string_view>

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

}  // namespace adaptyst::lib

#endif
