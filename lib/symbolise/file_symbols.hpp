// Names of the functions in an ELF file, by where in the file their code stands.
#ifndef ADAPTYST_LIB_SYMBOLISE_FILE_SYMBOLS_HPP
#define ADAPTYST_LIB_SYMBOLISE_FILE_SYMBOLS_HPP

#include <cstdint>
#include <memory>
#include <string>

namespace adaptyst::lib {

// Where in its source an instruction comes from.
struct code_place {
  std::string function;    // without arguments
  std::string file;        // as the compiler was given it; empty: not known
  unsigned line = 0;       // 0: not known
  std::uint64_t into = 0;  // bytes from the function's beginning, where its line is not known

  bool operator!=(const code_place& other) const {
    return function != other.function || file != other.file || line != other.line || into != other.into;
  }
};

class file_symbols {
 public:
  // Reads the tables of the file, or of what a package with debugging information has put next to it. Never throws
  // because of what is in it: a file that is damaged, or no ELF file, names nothing. Keeps no descriptor.
  explicit file_symbols(int descriptor);
  ~file_symbols();
  file_symbols(const file_symbols&) = delete;
  file_symbols& operator=(const file_symbols&) = delete;

  // The function that holds this offset, demangled; empty if no symbol says so.
  std::string function_at(std::uint64_t offset) const;

  // The offset at which the function begins that holds this offset, also if no symbol names the function: unwinding tables have
  // its range. The offset itself if they do not.
  std::uint64_t begin_of_function(std::uint64_t offset) const;

  // Whether the file has no symbols but those for the dynamic linker.
  bool is_stripped() const;

  // What stands this many bytes behind the address at which the file is mapped. A function that the compiler made of a
  // part of another, as of an OpenMP construct, is called as that. Without a name: not known.
  code_place place_at(std::uint64_t from_base) const;

  // Whether this build can read symbols.
  static bool are_read() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace adaptyst::lib

#endif
