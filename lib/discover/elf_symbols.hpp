// The symbols of an ELF file (x86-64) from both tables, with versions, and its machine code.
#ifndef ADAPTYST_LIB_DISCOVER_ELF_SYMBOLS_HPP
#define ADAPTYST_LIB_DISCOVER_ELF_SYMBOLS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../support/regular_file.hpp"
#include "elf_handle.hpp"

namespace adaptyst::lib {

enum class symbol_kind { function, indirect_function, label, other };

struct elf_symbol {
  std::string name;           // without its version
  std::string version;        // or empty
  std::string imported_from;  // the library where the linker found an imported symbol, or empty
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: unknown
  symbol_kind kind = symbol_kind::other;
  bool is_imported = false;
};

class elf_symbols {
 public:
  // Throws error if the file cannot be read or contains no x86-64 code.
  explicit elf_symbols(const std::string& file);

  const std::vector<elf_symbol>& all() const { return symbols_; }
  bool is_stripped() const { return is_stripped_; }      // it has no .symtab
  bool has_debugdata() const { return has_debugdata_; }  // it has a compressed symbol table, which is not read

  // The position in the file of the code at an address; empty if there is none.
  std::optional<std::uint64_t> code_offset(std::uint64_t address) const;
  // Up to `wanted` bytes of the file.
  std::vector<unsigned char> bytes(std::uint64_t offset, std::size_t wanted) const;

 private:
  regular_file file_;
  std::vector<elf_symbol> symbols_;
  std::vector<elf_segment> code_;
  bool is_stripped_ = true;
  bool has_debugdata_ = false;
};

}  // namespace adaptyst::lib

#endif
