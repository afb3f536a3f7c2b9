// Functions that users name: by the name of an interface, or by file and pattern; and which of them there are.
#ifndef ADAPTYST_LIB_DISCOVER_FUNCTION_REQUEST_HPP
#define ADAPTYST_LIB_DISCOVER_FUNCTION_REQUEST_HPP

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../support/error.hpp"

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

// Finds the functions that a user has named: which functions in which files.

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
