// The callers in a copy of a stack, from the unwinding tables of the ELF files that the process has mapped (.eh_frame,
// .debug_frame). The program does not take part and may have ended.
//
//   stack_unwinder unwinder;
//   sampler.copy_stacks(stack_unwinder::needed_registers());
//   unwinder.unwind({{pid, {registers, bytes, largest_copy}}, …}, [](std::size_t at, end how, auto& frames) { … });
//
// The copy, the registers and the tables are the program's, so a child process unwinds (stack_tables). It has 2 GiB of
// memory, and for a stack 1 s of CPU time within 5 s. If a stack takes more, or ends the child, its process has only
// innermost functions from then on. While no child can be started (limited_child), all processes do. To wake the child
// takes more time than most stacks, so it unwinds up to 16 stacks at once.
//
// A stack has 127 frames at most. A process with three stacks of over 20 ms of CPU time has only innermost functions
// from then on. The tables of 512 processes are kept, with 1,024 mapped files each; further processes have innermost
// functions. Not thread-safe.
#ifndef ADAPTYST_LIB_SYMBOLISE_STACK_UNWINDER_HPP
#define ADAPTYST_LIB_SYMBOLISE_STACK_UNWINDER_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "../support/limited_child.hpp"
#include "stack_tables.hpp"

namespace adaptyst::lib {

class stack_unwinder {
 public:
  using end = stack_tables::end;

  // Forks the child, which is small if there are few threads and mappings yet. `is_in_program`: as limits::is_orphan of
  // limited_child.
  explicit stack_unwinder(bool is_in_program = false);
  ~stack_unwinder();
  stack_unwinder(const stack_unwinder&) = delete;
  stack_unwinder& operator=(const stack_unwinder&) = delete;

  bool has_child() const noexcept { return child_.is_running(); }
  static std::uint64_t needed_registers() noexcept { return stack_tables::needed_registers(); }

  struct process_stack {
    pid_t process;
    copied_stack copy;
  };
  // Its number, and its addresses, innermost first. All but the innermost are return addresses, so a caller that a signal
  // has interrupted is at its next address plus one.
  using taker = std::function<void(std::size_t, end, const std::vector<std::uint64_t>&)>;
  static constexpr std::size_t max_batch = 16;

  // Calls take() for each stack in order. Never throws because of contents.
  void unwind(const std::vector<process_stack>& all, const taker& take);
  // Call it after the end of a process.
  void forget(pid_t process);

  // CPU time of the children, and of all calls of unwind() with it.
  std::uint64_t children_ns() const noexcept { return child_.used_ns(); }
  std::uint64_t used_ns() const noexcept { return used_ns_ + children_ns(); }

 private:
  struct exchange;  // in memory that the child shares

  std::size_t unwind_batch(const std::vector<process_stack>& all, std::size_t first, const taker& take);
  std::size_t request(std::size_t count);
  void serve(int socket);

  exchange* shared_ = nullptr;
  limited_child child_;
  std::set<pid_t> refused_;  // processes with a stack that ended a child
  std::set<pid_t> sent_;     // processes with a stack that a child got
  std::vector<std::uint64_t> frames_;
  std::uint64_t used_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
