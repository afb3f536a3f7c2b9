// The functions of an ELF file (x86-64) that a pattern names, and where each would be probed.
//
// Reads the symbols of .symtab and .dynsym, but neither .gnu_debugdata nor a separate file of debug information.
#ifndef ADAPTYST_LIB_DISCOVER_ELF_FUNCTIONS_HPP
#define ADAPTYST_LIB_DISCOVER_ELF_FUNCTIONS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../support/error.hpp"
#include "entry_instruction.hpp"

namespace adaptyst::lib {

struct function_place {
  std::string symbol;                // without its version
  std::string version;               // "MPI_4.0", or empty
  std::string name;                  // demangled, if it is of C++; else the symbol
  std::vector<std::string> aliases;  // other symbols of the same code: there is one probe for all of them
  std::uint64_t address = 0;         // of the function, as linked
  std::uint64_t offset = 0;          // of the instruction to probe, in the file
  std::uint32_t past_entry = 0;      // bytes from the function's beginning to there
  entry_kind entry = entry_kind::single_stepped;
  std::string refused;  // why there can be no probe; empty: there can be one, unless the caller excludes single_stepped
};

// Compilers make clones of a function: "sum.constprop.0", "sum.part.1".
enum class clones {
  as_spelled,          // only if the pattern fits the whole symbol
  with_their_function  // also if it fits the function that they are clones of
};

// Sorted by address. Functions that cannot be probed come first, with the reason; imported ones are among them only if
// the pattern is their exact name. It is no error if there is none. Throws error when the file cannot be read or holds
// no x86-64 code.
std::vector<function_place> find_functions(const std::string& file, std::string_view glob,
                                           clones wanted = clones::as_spelled);
// The same for what any of several patterns names.
std::vector<function_place> find_functions(const std::string& file, const std::vector<std::string>& globs,
                                           clones wanted = clones::as_spelled);

// For a person, when the above found nothing: why that may be, and which names are near.
error explain_no_function(const std::string& file, std::string_view glob);

}  // namespace adaptyst::lib

#endif
