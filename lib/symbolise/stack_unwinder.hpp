// The callers in a copy of a stack, from the unwinding tables of the ELF files that the process has mapped (.eh_frame,
// .debug_frame). The program does not take part and may have ended.
//
//   sampler.copy_stacks(stack_unwinder::needed_registers());
//   stack_unwinder unwinder(stack_unwinder::method::automatic);
//   unwinder.unwind(pid, {registers, bytes, largest_copy}, frames);
//
// The copy, the registers and the tables are the program's. A stack takes 127 frames and 20 ms of CPU time at most; a
// process with three slower stacks has only innermost functions from then on. The tables of 512 processes are kept,
// with 1,024 mapped files each; further processes have innermost functions. Not thread-safe.
#ifndef ADAPTYST_LIB_SYMBOLISE_STACK_UNWINDER_HPP
#define ADAPTYST_LIB_SYMBOLISE_STACK_UNWINDER_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace adaptyst::lib {

struct copied_stack {
  const std::vector<std::uint64_t>& registers;  // in the order of needed_registers()
  const std::vector<char>& bytes;               // from the stack pointer on
  std::size_t max_bytes;                        // as many bytes mean that the copy is cut off
};

class stack_unwinder {
 public:
  // automatic: a frame pointer, for return addresses at which the tables have once led to the same caller; else the
  // tables.
  enum class method { tables, automatic };
  // Why a stack ends: at the begin of its thread, at the end of the copy or the limit of frames, or without a known
  // caller.
  enum class end { complete, truncated, broken };

  explicit stack_unwinder(method chosen);
  ~stack_unwinder();
  stack_unwinder(const stack_unwinder&) = delete;
  stack_unwinder& operator=(const stack_unwinder&) = delete;

  // Registers for unwind(), as a mask of perf_event_open(); 0: this build, or this machine, cannot unwind copies.
  static std::uint64_t needed_registers() noexcept;

  // Sets the addresses, innermost first. All but the innermost are return addresses, so a caller that a signal has
  // interrupted is at its next address plus one. Never throws because of contents.
  end unwind(pid_t process, const copied_stack& from, std::vector<std::uint64_t>& frames);
  void forget(pid_t process);

  // CPU time of all calls of unwind().
  std::uint64_t used_ns() const noexcept { return used_ns_; }

 private:
  struct state;

  std::unique_ptr<state> state_;
  std::uint64_t used_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
