// Functions that users name by an interface or by file and pattern, and the existing functions that match.
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
  std::string file;  // a path if it contains a slash; otherwise the name of a library or program, or its beginning
  std::string glob;  // for symbols and C++ names without arguments; with "(" or "::", also for whole C++ names
};

// Throws error if the text is not FILE:PATTERN.
function_request parse_function(std::string_view text);

// Whether the request refers to this file, by the loader's name of the file: "libmpi.so" refers to …/libmpi.so.40.30.4,
// a path to the file at its end.
bool is_for(const function_request& request, const std::string& file);

// `*` matches any text, `?` one character, and other characters themselves: C++ names are full of brackets.
bool matches(std::string_view glob, std::string_view text);

// Whether the pattern is for demangled names.
bool is_cxx(std::string_view glob);

// The functions of an interface that a user names.

// `name`: mpi, opencl, cuda, hip, openmp, blas, io or malloc. Libraries that are not loaded are harmless. Throws error
// for another name.
std::vector<function_request> find_set(std::string_view name);

// The names of all sets.
std::vector<std::string_view> function_set_names();

// Parses a user's text: the name of a set, or FILE:PATTERN. Throws error.
std::vector<function_request> parse_requests(std::string_view text);

// Functions in which a thread waits for others, by their names in the interfaces of the function sets.

// Such calls mostly take long, so a probe is relatively cheap with any first instruction. Also for the Fortran names,
// such as mpi_waitall_ and MPI_WAITALL.
bool waits_for_others(std::string_view symbol);

// Finds the functions that a user has named, and their files.

struct named_functions {
  std::map<std::string, std::vector<function_request>> by_file;
  std::vector<error> not_found;  // names without a function, and the reason
};

// `named`: each is FILE:PATTERN or a set; `files`: finds the files of a request, see files_for(). Throws error.
named_functions find_named(const std::vector<std::string>& named,
                           const std::function<std::vector<std::string>(const function_request&)>& files);

// The functions of an interface that a program imports from libraries: mostly few of many.

// The functions of `wanted` that any of these files has as undefined dynamic symbols. Ignores the libraries that define
// them, `from`, and files with names that begin like these: libmpi_cxx.so calls all functions of libmpi.so.
std::set<std::string> imported_functions(const std::vector<std::string>& files, const std::set<std::string>& wanted,
                                         const std::set<std::string>& from);

}  // namespace adaptyst::lib

#endif
