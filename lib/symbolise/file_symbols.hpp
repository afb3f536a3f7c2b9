// Names of the functions in an ELF file, by where in the file their code stands.
#ifndef ADAPTYST_LIB_SYMBOLISE_FILE_SYMBOLS_HPP
#define ADAPTYST_LIB_SYMBOLISE_FILE_SYMBOLS_HPP

#include <cstdint>
#include <memory>
#include <string>

namespace adaptyst::lib {

class file_symbols {
 public:
  // Reads the tables of the file, or of what a package with debugging information has put beside it. Never throws because
  // of what is in it: a file that is damaged, or no ELF file, names nothing. Keeps no descriptor.
  explicit file_symbols(int descriptor);
  ~file_symbols();
  file_symbols(const file_symbols&) = delete;
  file_symbols& operator=(const file_symbols&) = delete;

  // The function that holds this offset, demangled; empty if no symbol says so.
  std::string function_at(std::uint64_t offset) const;

  // Whether this build can read symbols.
  static bool are_read() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace adaptyst::lib

#endif
