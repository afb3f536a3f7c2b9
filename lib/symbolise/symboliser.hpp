// What stands at an address of a process, as a person reads it: also after the process has ended, from what was mapped
// while it lived.
//
//   symboliser names(symboliser::kernel::named);
//   names.look_at(pid);                              // again whenever it may have loaded something
//   names.find_name(pid, address)                      "solve(grid&)", "libm.so.6+0x1234", "[vdso]", "[anonymous code]"
#ifndef ADAPTYST_LIB_SYMBOLISE_SYMBOLISER_HPP
#define ADAPTYST_LIB_SYMBOLISE_SYMBOLISER_HPP

#include <fcntl.h>
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

#include "../support/descriptor.hpp"
#include "../support/process_maps.hpp"
#include "../support/regular_file.hpp"
#include "file_symbols.hpp"
#include "kernel_symbols.hpp"

namespace adaptyst::lib {

class symboliser {
 public:
  static constexpr const char* unknown = "[unknown]";  // no code is mapped there

  enum class kernel { named, unnamed };
  // `of_kernel`: named takes a descriptor, while the list of the kernel's functions may be opened.
  explicit symboliser(kernel of_kernel) {
    if (of_kernel == kernel::named) kernel_list_ = descriptor(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  }

  // Notes what code the process has mapped now, and opens its files. Nothing that goes wrong is an error: what cannot
  // be read stays unnamed.
  void look_at(pid_t process);

  // A function's name; where no symbol tells it, FILE+0xOFFSET of its beginning, or, if that is unknown, of the address; of
  // memory without a file what it is. `address`: in the
  // instruction itself, so one less than what a call returns to.
  const std::string& find_name(pid_t process, std::uint64_t address);
  const std::string& kernel_name(std::uint64_t address);

  // What stands in a file that any of these processes has mapped, by its name without directories; nothing: not known,
  // or files of that name say different things.
  code_place place_in(const std::string& file, std::uint64_t from_base);

  // Why names are missing, if they are, each a line for people.
  std::vector<std::string> remarks() const;

 private:
  struct code_file {
    std::string name;  // without directories
    std::unique_ptr<const regular_file> opened;
    std::unique_ptr<const file_symbols> symbols;
    bool lacks_names = false;  // of functions that were looked for, since it is stripped
  };
  struct code {
    std::uint64_t begin, end, offset;
    code_file* file;   // null: none
    std::string name;  // of memory without a file
  };
  struct process_code {
    std::string image;         // of the program: another one after exec()
    std::vector<code> pieces;  // the latest last: an older one may have been unmapped
    std::unordered_map<std::uint64_t, std::string> names;
    std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, const code_file*>> seen;  // of the pieces
  };

  code_file* find_file(pid_t process, const mapping& piece);
  static const file_symbols* find_symbols(code_file& file);
  std::string describe(const process_code& process, std::uint64_t address);

  std::map<file_identity, std::unique_ptr<code_file>> files_;
  std::map<pid_t, process_code> processes_;
  descriptor kernel_list_;
  std::optional<kernel_symbols> kernel_;
};

}  // namespace adaptyst::lib

#endif
