// Finds the place of a probe at the entry of an x86-64 function, from its first bytes.
//
// After the trap, the kernel emulates a few instructions and steps over all others with a second trap. In a virtual
// machine, that trap may cost 19 us, which the measured time includes. Compilers put `push` first in most functions
// that call others; with control-flow protection, an `endbr64` precedes it, which needs a second trap. The probe is
// therefore after the `endbr64`. At that place, stack and registers are still as the caller left them, because the trap
// comes before the push: a return probe finds the return address.
//
// The search also skips a 5-byte nop, which compilers leave for patches: Linux 6.18 replaces it with a call to a page
// that a forked child does not get, and the child crashes there.
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

// Reads one instruction after an `endbr64` and a nop; the begin of later instructions is unknown.
entry_instruction find_entry_instruction(const unsigned char* code, std::size_t bytes);

}  // namespace adaptyst::lib

#endif
