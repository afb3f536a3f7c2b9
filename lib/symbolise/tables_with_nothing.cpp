// For builds without libdw: code has no names, and stacks follow frame pointers.
#include "file_symbols.hpp"
#include "stack_tables.hpp"

namespace adaptyst::lib {

struct file_symbols::state {};

file_symbols::file_symbols(int) {}
file_symbols::~file_symbols() = default;
code_names file_symbols::names_at(std::uint64_t offset) const { return {{}, offset, false}; }
code_place file_symbols::place_at(std::uint64_t) const { return {}; }
bool file_symbols::are_read() noexcept { return false; }

struct stack_tables::state {};

stack_tables::stack_tables() = default;
stack_tables::~stack_tables() = default;
std::uint64_t stack_tables::needed_registers() noexcept { return 0; }
std::optional<std::uint64_t> stack_tables::find_innermost(const std::vector<std::uint64_t>&) noexcept {
  return std::nullopt;
}
stack_tables::end stack_tables::unwind(pid_t, const copied_stack&, std::vector<std::uint64_t>&) { return end::broken; }
void stack_tables::forget(pid_t) {}

}  // namespace adaptyst::lib
