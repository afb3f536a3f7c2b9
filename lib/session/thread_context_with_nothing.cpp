#include "../support/error.hpp"
#include "thread_context.hpp"

namespace adaptyst::lib {

std::unique_ptr<thread_context> make_thread_context(const options&, subject, const kernel_rows*) {
  throw error("cannot ask the kernel for context", 0, "this collector was built without libbpf");
}

}  // namespace adaptyst::lib
