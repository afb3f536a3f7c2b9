// The functions of an ELF file (x86-64) that match a pattern, and the places of their probes.
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
  std::string name;                  // demangled for C++; otherwise the symbol
  std::vector<std::string> aliases;  // other symbols of the same code; they share one probe
  std::uint64_t address = 0;         // of the function, as linked
  std::uint64_t offset = 0;          // of the instruction to probe, in the file
  std::uint32_t past_entry = 0;      // distance in bytes from the function's beginning to the probe
  entry_kind entry = entry_kind::single_stepped;
  std::string refused;  // why no probe is possible; empty: possible, unless the caller excludes single_stepped
};

// Compilers make clones of a function: "sum.constprop.0", "sum.part.1".
enum class clones {
  as_spelled,          // only if the pattern matches the whole symbol
  with_their_function  // also if the pattern matches their function
};

// Sorted by address. Functions without a possible probe come first, with the reason; imported functions are included
// only if the pattern equals their name. An empty result is no error. Throws error if the file cannot be read or
// contains no x86-64 code.
std::vector<function_place> find_functions(const std::string& file, std::string_view glob,
                                           clones wanted = clones::as_spelled);
// The same for functions that match any of several patterns.
std::vector<function_place> find_functions(const std::string& file, const std::vector<std::string>& globs,
                                           clones wanted = clones::as_spelled);

// Explains to the user why find_functions() found nothing, and lists similar names.
error explain_no_function(const std::string& file, std::string_view glob);

}  // namespace adaptyst::lib

#endif
