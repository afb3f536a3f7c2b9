// Nothing of the C++ library, for who links with a C compiler.
#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>

#include "own_recorder.hpp"

namespace {
const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "gpu"};
}

int main() {
  const support::own_recorder recorder;
  {
    ADAPTYST_FUNCTION();
    ADAPTYST_OFFLOAD("offload", gpu);
    adaptyst::operation kernel = adaptyst::submit("kernel", gpu, 0, adaptyst::operation_kind::kernel);
    const uint64_t now_ns = adaptyst::now_ns();
    kernel.complete(now_ns, now_ns);
  }
  ADAPTYST_HANDLE_BEGIN("handle").end();
  const bool all = recorder.count({"main", "offload"}) == 1 && recorder.count({"main", "offload", "kernel"}) == 1 &&
                   recorder.count({"handle"}) == 1;
  return all ? 0 : 1;
}
