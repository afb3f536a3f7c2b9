// Finds where at its entry a function of x86-64 is probed, from its first bytes.
//
// After the trap the kernel emulates a few instructions and steps over all others with a second trap, which in a
// virtual machine may cost 19 us, and that within the time that is measured. Compilers put `push` first in most
// functions that call others; with control-flow protection an `endbr64`, which is stepped, stands before it. So the
// probe goes behind the `endbr64`. There the stack and the registers are still as the caller left them, since nothing
// has been pushed when the trap comes: the return address is where a return probe looks for it.
//
// A 5-byte nop, which compilers leave for patches, is passed over as well, whatever stands behind it: Linux 6.18 makes
// a call of it, to a page that a forked child does not get, and a child that comes there dies.
#ifndef ADAPTYST_LIB_DISCOVER_ENTRY_INSTRUCTION_HPP
#define ADAPTYST_LIB_DISCOVER_ENTRY_INSTRUCTION_HPP

#include <cstddef>
#include <cstdint>

namespace adaptyst::lib {

enum class entry_kind {
  nop1,
  push,
  emulated,        // a jump or a call
  single_stepped,  // anything else
};

struct entry_instruction {
  entry_kind kind = entry_kind::single_stepped;
  std::uint32_t past_entry = 0;  // bytes
};

// Looks at one instruction, behind an `endbr64` and a nop; further on it is unknown where instructions begin.
entry_instruction find_entry_instruction(const unsigned char* code, std::size_t bytes);

}  // namespace adaptyst::lib

#endif
