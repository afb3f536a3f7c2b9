// The control block and the USDT probes of an ELF file, from its notes: what a stripped file still has.
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
  std::uint64_t address;           // the same two as addresses, as linked
  std::uint64_t semaphore_address;
};

// What a file with markers holds of adaptyst's.
struct elf_markers {
  std::vector<elf_probe> probes;
  std::string no_probes_because;    // there is a control block, but its probes cannot be attached to: why
  std::uint64_t control_block = 0;  // as linked; 0: no markers
  std::uint32_t other_abi = 0;      // of markers that were built with other headers; 0: there are none
  std::uint64_t first_address = 0;  // as linked, of what is loaded from the beginning of the file
};

// A file without markers is no error. Throws error when the file cannot be read or is malformed.
// `called`: its name in messages, if another one.
elf_markers find_elf_markers(const std::string& file, const std::string& called = {});

// Whether there are markers in it. False also for what is no ELF file, such as a script, or cannot be read.
bool has_markers(const std::string& file);

}  // namespace adaptyst::lib

#endif
