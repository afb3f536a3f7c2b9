// The control block and USDT probes of an ELF file, from its notes, which stripped files keep.
#ifndef ADAPTYST_LIB_DISCOVER_ELF_PROBES_HPP
#define ADAPTYST_LIB_DISCOVER_ELF_PROBES_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace adaptyst::lib {

struct elf_probe {
  std::string name;
  std::string arguments;           // in the notation of the note, "8@%rdi 8@%rsi"
  std::uint64_t offset;            // of the 1-byte nop, in the file
  std::uint64_t semaphore_offset;  // in the file; 0: none
  bool has_fast_point;             // a 10-byte and a 5-byte nop follow the 1-byte nop
  std::uint64_t address;           // the same two as linked addresses
  std::uint64_t semaphore_address;
};

// The parts of adaptyst in a file with markers.
struct elf_markers {
  std::vector<elf_probe> probes;
  std::string no_probes_because;    // the reason why its probes cannot be attached to, if it has a control block
  std::uint64_t control_block = 0;  // as linked; 0: no markers
  std::uint32_t other_abi = 0;      // of markers built with other headers; 0: none
  std::uint64_t first_address = 0;  // linked address of the loaded beginning of the file
};

// A file without markers is no error. Throws error if the file cannot be read or is malformed. `called`: the file name
// in messages, if different.
elf_markers find_elf_markers(const std::string& file, const std::string& called = {});

// Whether the file contains markers. False also if the file is no ELF file, such as a script, or cannot be read.
bool has_markers(const std::string& file);

}  // namespace adaptyst::lib

#endif
