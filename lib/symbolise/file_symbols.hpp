// Names of the functions in an ELF file, by position in the file. libdw maps the file: if it is cut, its reader ends with
// SIGBUS. symbol_child reads files of other programs.
#ifndef ADAPTYST_LIB_SYMBOLISE_FILE_SYMBOLS_HPP
#define ADAPTYST_LIB_SYMBOLISE_FILE_SYMBOLS_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// The names of an instruction.
struct code_names {
  std::vector<std::string> functions;  // innermost first: inlined functions, and the function with the symbol; or none
  std::uint64_t begin = 0;             // of the function in the file; without its range: the instruction
  bool is_stripped = false;            // the file has only symbols for the dynamic linker
};

class file_symbols {
 public:
  // Reads the tables of the file, or of its package of debugging information. Never throws because of the contents: a
  // damaged file, or a file of another format, has no names. Keeps no descriptor.
  explicit file_symbols(int descriptor);
  ~file_symbols();
  file_symbols(const file_symbols&) = delete;
  file_symbols& operator=(const file_symbols&) = delete;

  // The names of the instruction at this offset in the file. Without a symbol, unwinding tables have the range of the function.
  // Inlined functions need debugging information; a file has 2 s of CPU time for them.
  code_names names_at(std::uint64_t offset) const;

  // The place at this distance from the address at which the file is mapped. A function that the compiler made from a
  // part of another function, such as an OpenMP construct, has the name of that function. Without a name: unknown.
  code_place place_at(std::uint64_t from_base) const;

  // Whether this build can read symbols.
  static bool are_read() noexcept;

 private:
  struct state;
  std::vector<std::string> find_inlined(std::uint64_t address) const;
  std::uint64_t begin_of_function(std::uint64_t offset) const;
  bool is_stripped() const;

  std::unique_ptr<state> state_;
};

}  // namespace adaptyst::lib

#endif
