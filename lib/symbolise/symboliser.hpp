// The readable name of the code at an address of a process. It works after the end of the process, from mappings that
// were read while it ran.
//
//   symboliser names;
//   names.note_mappings(pid);                              // again when it may have loaded a file
//   names.find_names(pid, address)                     "solve(grid&)", "libm.so.6+0x1234", "[vdso]", "[anonymous code]"
//
// A child process reads the files of other processes (symbol_child).
#ifndef ADAPTYST_LIB_SYMBOLISE_SYMBOLISER_HPP
#define ADAPTYST_LIB_SYMBOLISE_SYMBOLISER_HPP

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../support/process_maps.hpp"
#include "../support/regular_file.hpp"
#include "file_symbols.hpp"
#include "symbol_child.hpp"

namespace adaptyst::lib {

class symboliser {
 public:
  static constexpr const char* unknown = "[unknown]";  // no code is mapped there

  // Reads the code that the process has mapped, and opens its files. No failure is an error: unreadable code stays
  // without a name.
  void note_mappings(pid_t process);
  // The same for a process that has been noted. If all known samples have names, most calls only compare its program.
  void note_new_mappings(pid_t process, bool has_unnamed);
  // Whether an address is in noted code.
  bool has_code_at(pid_t process, std::uint64_t address) const;

  // Names of functions, innermost first: inlined functions, and the function with the symbol. Without a symbol,
  // FILE+0xOFFSET of the function's beginning, or of the address if the beginning is unknown; for memory without a file, a
  // description. `address`: within the instruction, so a return address minus one.
  const std::vector<std::string>& find_names(pid_t process, std::uint64_t address);
  const std::string& find_name(pid_t process, std::uint64_t address) { return find_names(process, address).back(); }

  // The place in a file that any of these processes has mapped, by the file name without directories; empty: unknown,
  // or files of that name differ.
  code_place place_in(const std::string& file, std::uint64_t from_base);

  // The reasons for missing names, one line each.
  std::vector<std::string> remarks() const;

 private:
  struct code_file {
    std::uint32_t number = 0;
    std::string name;  // without directories
    std::unique_ptr<const regular_file> opened;
    bool is_own = false;                          // mapped by this process, so cutting it would end this process anyway
    std::unique_ptr<const file_symbols> symbols;  // of such a file
    bool lacks_names = false;                     // of queried functions, because it is stripped
  };
  struct code {
    std::uint64_t begin, end, offset;
    code_file* file;   // null: no file
    std::string name;  // of memory without a file
  };
  struct process_code {
    std::string image;  // of the program; changes with exec()
    std::uint64_t noted_ns = 0;
    std::vector<code> pieces;  // the latest is last: an older one may have been unmapped
    std::unordered_map<std::uint64_t, std::vector<std::string>> names;
    std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, const code_file*>> seen;  // of the pieces
  };

  code_file* find_file(pid_t process, const mapping& piece);
  static const file_symbols& own_symbols(code_file& file);
  std::optional<code_place> find_place(code_file& file, std::uint64_t from_base);
  std::vector<std::string> describe(const process_code& process, std::uint64_t address);

  std::map<file_identity, std::unique_ptr<code_file>> files_;
  std::map<pid_t, process_code> processes_;
  symbol_child child_;
};

}  // namespace adaptyst::lib

#endif
