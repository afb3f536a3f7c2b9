// Builds without libdw: stacks follow frame pointers.
#include "stack_tables.hpp"

namespace adaptyst::lib {

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
