// The USDT probes of an ELF file, from its .note.stapsdt section: what a stripped file still has.
#ifndef ADAPTYST_LIB_DISCOVER_ELF_PROBES_HPP
#define ADAPTYST_LIB_DISCOVER_ELF_PROBES_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace adaptyst::lib {

struct elf_probe {
  std::string name;
  std::string arguments;           // as the note spells them, "8@%rdi 8@%rsi"
  std::uint64_t offset;            // of the 1-byte nop, in the file
  std::uint64_t semaphore_offset;  // in the file; 0: none
  bool has_fast_point;             // a 5-byte nop stands behind the 1-byte one
};

// The probes of our provider in `file`; none is no error. Throws error when the file cannot be read or its notes are
// malformed.
std::vector<elf_probe> find_elf_probes(const std::string& file);

}  // namespace adaptyst::lib

#endif
