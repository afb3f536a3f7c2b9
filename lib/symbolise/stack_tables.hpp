// Unwinds copies of stacks in this process. The tables are the program's: they can take any memory and time, or end this
// process. stack_unwinder calls this class in a child process.
#ifndef ADAPTYST_LIB_SYMBOLISE_STACK_TABLES_HPP
#define ADAPTYST_LIB_SYMBOLISE_STACK_TABLES_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

struct copied_stack {
  const std::vector<std::uint64_t>& registers;  // in the order of needed_registers()
  std::string_view bytes;                       // from the stack pointer on
  std::size_t max_bytes;                        // as many bytes mean that the copy is cut off
};

class stack_tables {
 public:
  // Why a stack ends: at the begin of its thread, at the end of the copy or the limit of frames, or without a known
  // caller.
  enum class end { complete, truncated, broken };
  static constexpr std::size_t max_frames = 127;  // as the kernel's own chains
  static constexpr std::size_t max_registers = 33;

  stack_tables();
  ~stack_tables();
  stack_tables(const stack_tables&) = delete;
  stack_tables& operator=(const stack_tables&) = delete;

  // Registers for unwind(), as a mask of perf_event_open(); 0: this build, or this machine, cannot unwind copies.
  static std::uint64_t needed_registers() noexcept;
  // The address of the innermost function; empty: these are other registers.
  static std::optional<std::uint64_t> find_innermost(const std::vector<std::uint64_t>& registers) noexcept;

  // Sets the addresses, innermost first; none: the tables of the process are not read. `from` has all registers.
  end unwind(pid_t process, const copied_stack& from, std::vector<std::uint64_t>& frames);
  void forget(pid_t process);

 private:
  struct state;

  std::unique_ptr<state> state_;
};

}  // namespace adaptyst::lib

#endif
