#include "../support/error.hpp"
#include "own_context.hpp"

namespace adaptyst::lib {

std::unique_ptr<own_context> make_own_context(bool, const kernel_rows*) {
  throw error("cannot ask the kernel for context", 0, "this collector was built without libbpf");
}

}  // namespace adaptyst::lib
