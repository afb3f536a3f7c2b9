// A program with NVTX and with a tool that is linked into it. It prints the pushes that its tool has received.
#include "nvtx_host.hpp"

#include <cstdio>

namespace {

int received = 0;

int count_push(const char*) { return received++; }

int start_tool(const void* (*get)(std::uint32_t)) {
  struct table {
    std::size_t bytes;
    int (*get)(std::uint32_t, void (***)(), unsigned*);
  };
  void (***functions)() = nullptr;
  unsigned size = 0;
  if (static_cast<const table*>(get(1))->get(1, reinterpret_cast<void (***)()>(&functions), &size) == 0) return 0;
  *functions[9] = reinterpret_cast<void (*)()>(count_push);
  return 1;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int (*InitializeInjectionNvtx2_fnptr)(const void* (*)(std::uint32_t)) =
    start_tool;
}

int main() {
  for (int at = 0; at != 5; ++at) nvtxRangePushA("range");
  std::printf("%d\n", received);
}
