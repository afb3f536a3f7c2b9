// Forks while a thread of it passes regions: forking CHILDREN [SHARING [PLUGIN]]. Says how many regions that thread has passed.
//
// CHILDREN are forked in a region, load PLUGIN, pass five regions of their own each, and leave by _exit(). Then SHARING children
// by vfork(), and as many that share its memory for other reasons (CLONE_VM), pass one each: these are regions of the parent's.
#include <adaptyst/adaptyst.hpp>
#include <dlfcn.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

namespace {

__attribute__((noinline)) pid_t start_sharing() {
  const pid_t made = vfork();
  if (made == 0) {
    { ADAPTYST_REGION("vforked"); }
    _exit(0);
  }
  return made;
}

int pass_cloned(void*) {
  { ADAPTYST_REGION("cloned"); }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const long children = count > 1 ? std::atol(arguments[1]) : 0, sharing = count > 2 ? std::atol(arguments[2]) : 0;
  { ADAPTYST_REGION("begin"); }
  std::atomic<bool> stops{false};
  long passed = 0;
  std::thread busy([&] {
    for (; !stops; ++passed) {
      ADAPTYST_REGION("busy");
    }
  });
  for (long child = 0; child != children; ++child) {
    ADAPTYST_REGION("launch");
    if (fork() != 0) continue;
    if (count > 3 && dlopen(arguments[3], RTLD_NOW) == nullptr) _exit(1);
    for (int at = 0; at != 5; ++at) {
      ADAPTYST_REGION("child");
    }
    _exit(0);
  }
  while (wait(nullptr) > 0) {}
  for (long child = 0; child != sharing; ++child) waitpid(start_sharing(), nullptr, 0);
  constexpr std::size_t stack_bytes = 1 << 20;
  const std::unique_ptr<char[]> stack(new char[stack_bytes]);
  for (long child = 0; child != sharing; ++child)
    waitpid(clone(&pass_cloned, stack.get() + stack_bytes, CLONE_VM | SIGCHLD, nullptr), nullptr, 0);
  stops = true;
  busy.join();
  std::printf("%ld\n", passed);
}
