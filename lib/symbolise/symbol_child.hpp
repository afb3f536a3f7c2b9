// Names from files of observed programs, which a child process reads: libdw maps files, and a program may cut a file at
// any time, which ends its reader with SIGBUS.
//
//   symbol_child child;
//   child.names_at(number, file.descriptor(), offset)     nothing: there is no answer for this file
//
// A file is refused from then on if it ends the child, or if an answer takes more than 5 s of CPU time or 10 s. All answers
// for a file have 20 s, and those for all files 2 minutes. The child has 4 GiB of memory. An answer has 64 KiB at most. Not
// thread-safe.
#ifndef ADAPTYST_LIB_SYMBOLISE_SYMBOL_CHILD_HPP
#define ADAPTYST_LIB_SYMBOLISE_SYMBOL_CHILD_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../support/limited_child.hpp"
#include "file_symbols.hpp"

namespace adaptyst::lib {

class symbol_child {
 public:
  symbol_child();

  // As the functions of file_symbols. `number`: of the file; `opened`: a descriptor of the file.
  std::optional<code_names> names_at(std::uint32_t number, int opened, std::uint64_t offset);
  std::optional<code_place> place_at(std::uint32_t number, int opened, std::uint64_t from_base);
  bool is_refused(std::uint32_t number) const { return refused_.count(number) != 0; }

 private:
  struct question;
  struct answer;

  static void serve(int socket);
  // The texts of the answer; empty: no answer.
  std::optional<std::vector<std::string>> ask(const question& what, int opened, answer& got);

  limited_child child_;
  unsigned child_number_ = 0;
  std::set<std::uint32_t> sent_, refused_;          // files that this child has; files without answers
  std::map<std::uint32_t, std::uint64_t> used_ns_;  // by file, in answers
  std::uint64_t all_used_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
