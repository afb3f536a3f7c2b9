// Names of the functions in an ELF file, by position in the file.
#ifndef ADAPTYST_LIB_SYMBOLISE_FILE_SYMBOLS_HPP
#define ADAPTYST_LIB_SYMBOLISE_FILE_SYMBOLS_HPP

#include <cstdint>
#include <memory>
#include <string>

namespace adaptyst::lib {

// The source position of an instruction.
struct code_place {
  std::string function;    // without arguments
  std::string file;        // as given to the compiler; empty: unknown
  unsigned line = 0;       // 0: unknown
  std::uint64_t into = 0;  // distance in bytes from the function's beginning, if the line is unknown

  bool operator!=(const code_place& other) const {
    return function != other.function || file != other.file || line != other.line || into != other.into;
  }
};

class file_symbols {
 public:
  // Reads the tables of the file, or of its package of debugging information. Never throws because of the contents: a
  // damaged file, or a file of another format, has no names. Keeps no descriptor.
  explicit file_symbols(int descriptor);
  ~file_symbols();
  file_symbols(const file_symbols&) = delete;
  file_symbols& operator=(const file_symbols&) = delete;

  // The demangled function at this offset; empty if no symbol covers it.
  std::string function_at(std::uint64_t offset) const;

  // The offset of the beginning of the function at this offset. Unwinding tables have the range of functions without
  // symbols. If the range is unknown, returns the offset.
  std::uint64_t begin_of_function(std::uint64_t offset) const;

  // Whether the file has only symbols for the dynamic linker.
  bool is_stripped() const;

  // The place at this distance from the address at which the file is mapped. A function that the compiler made from a
  // part of another function, such as an OpenMP construct, has the name of that function. Without a name: unknown.
  code_place place_at(std::uint64_t from_base) const;

  // Whether this build can read symbols.
  static bool are_read() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace adaptyst::lib

#endif
