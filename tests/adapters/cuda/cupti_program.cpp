// A program that "uses CUDA", as far as a tool can see: it does what the driver does when it is initialised, and calls the
// stub of CUPTI where there is one. Nothing in it is measured on a device.
#include <adaptyst/region.hpp>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "scripted.hpp"

namespace {

void use_memory(const char* fault) {
  {
    ADAPTYST_REGION("allocate");
    scripted::allocate("cuMemAlloc_v2", 0x10000, 4096);
    scripted::allocate("cuMemAlloc_v2", 0x20000, 100, scripted::context + 1);
    scripted::allocate("cuMemAllocManaged", 0x30000, 300);
    scripted::allocate("cuMemAlloc_v2", 0x40000, 1'000'000, scripted::context, 2);  // fails
  }
  scripted::free("cuMemFree_v2", 0x10000);
  scripted::allocate("cuMemAlloc_v2", 0x50000, 96);
  scripted::free("cuMemFree_v2", 0);
  if (std::strcmp(fault, "unknown") == 0) scripted::free("cuMemFree_v2", 0x60000);
  if (std::strcmp(fault, "twice") == 0) scripted::allocate("cuMemAlloc_v2", 0x20000, 7);
  scripted::free("cuMemFree_v2", 0x70000, 1);  // fails
}

// A child frees memory of its parent, while a thread of the parent makes the adapter search all blocks: the driver
// refuses, after the callback.
int fork_during_searches() {
  constexpr std::uint64_t blocks = 5000, unused_context = scripted::context + 1;
  for (std::uint64_t at = 1; at <= blocks; ++at) scripted::allocate("cuMemAlloc_v2", at * 256, 16);
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) scripted::destroy_context(unused_context);
  });
  int ended_well = 0;
  for (int child = 0; child != 20; ++child) {
    const pid_t forked = fork();
    if (forked == 0) {
      alarm(1);
      scripted::free("cuMemFree_v2", 256, 3);
      scripted::call("cudaProfilerStop", 1);
      _exit(0);
    }
    int status = 1;
    if (waitpid(forked, &status, 0) == forked && status == 0) ++ended_well;
    usleep(1000);
  }
  is_over = true;
  other.join();
  for (std::uint64_t at = 1; at <= blocks; ++at) scripted::free("cuMemFree_v2", at * 256);
  return ended_well;
}

}  // namespace

int main(int count, char** words) {
  // After the adapter's end: a destructor of a static object, then the driver.
  static const bool frees_late = count > 2 && std::strcmp(words[2], "late") == 0;
  std::atexit([] {
    if (frees_late) {
      scripted::free("cuMemFree_v2", 0x50000);
      const auto before = std::chrono::steady_clock::now();
      scripted::call("cudaProfilerStop", 1000);
      if (std::chrono::steady_clock::now() - before > std::chrono::seconds(1)) std::fputs("the end waits\n", stderr);
    }
    scripted::destroy_context(scripted::context);
  });
  const bool calls = count > 1 && std::strcmp(words[1], "calls") == 0;
  // The driver's own way to its tools.
  const char* const tool = std::getenv("CUDA_INJECTION64_PATH");
  if (tool == nullptr) return std::puts("no tool"), 0;
  void* const injected = dlopen(tool, RTLD_NOW);
  if (injected == nullptr) return std::printf("cannot open %s\n", tool), 1;
  const int answer = reinterpret_cast<int (*)()>(dlsym(injected, "InitializeInjection"))();
  std::printf("injected: %d\n", answer);
  for (std::uint32_t at = 1; calls && at <= 100; ++at) {
    std::uint64_t t;
    {
      ADAPTYST_REGION("step");
      scripted::call launch("cudaLaunchKernel", at);
      t = cupti_stub_now();
    }
    scripted::kernel(at, "_Z7stencilPdS_", {t + 1000, t + 1500});
    usleep(200);
  }
  if (std::getenv("CUPTI_STUB_WAITS") != nullptr) usleep(1'000'000);  // until the adapter's thread waits in CUPTI
  if (count > 1 && std::strcmp(words[1], "memory") == 0) use_memory(count > 2 ? words[2] : "");
  if (count > 1 && std::strcmp(words[1], "forks") == 0) std::printf("children: %d\n", fork_during_searches());
  std::fflush(stdout);
  if (calls && fork() == 0) std::exit(0);  // a child that leaves as its parent does, without CUDA
  std::puts("done");
}
