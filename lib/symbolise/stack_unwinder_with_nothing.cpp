// Builds without libdw: stacks follow frame pointers.
#include "stack_unwinder.hpp"

namespace adaptyst::lib {

struct stack_unwinder::state {};

stack_unwinder::stack_unwinder(method) {}
stack_unwinder::~stack_unwinder() = default;
std::uint64_t stack_unwinder::needed_registers() noexcept { return 0; }
stack_unwinder::end stack_unwinder::unwind(pid_t, const copied_stack&, std::vector<std::uint64_t>&) {
  return end::broken;
}
void stack_unwinder::forget(pid_t) {}

}  // namespace adaptyst::lib
