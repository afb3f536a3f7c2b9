// Forks while a thread of it passes regions: forking CHILDREN [SHARING [THREADED [PLUGIN]]]. Says how many regions that thread
// has passed.
//
// CHILDREN are forked in a region, load PLUGIN, pass five regions of their own each, and leave by _exit(). Then SHARING children
// by vfork(), and as many that share its memory for other reasons (CLONE_VM), pass one each: these are regions of the parent's.
// THREADED children start twelve threads which pass one region each, all at once; every other one passes one itself meanwhile,
// and the rest only leave the region in which they were forked.
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

void pass_in_threads(bool passes_itself) {
  std::thread threads[12];
  for (std::thread& thread : threads) thread = std::thread([] { ADAPTYST_REGION("thread"); });
  if (passes_itself) {
    ADAPTYST_REGION("child");
  }
  for (std::thread& thread : threads) thread.join();
}

// Whether all have ended as they should.
bool wait_for_children() {
  bool all = true;
  for (int status = 0; wait(&status) > 0;) all = all && status == 0;
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  const long children = count > 1 ? std::atol(arguments[1]) : 0, sharing = count > 2 ? std::atol(arguments[2]) : 0,
             threaded = count > 3 ? std::atol(arguments[3]) : 0;
  { ADAPTYST_REGION("begin"); }
  std::atomic<bool> stops{false};
  long passed = 0;
  std::thread busy([&] {
    // At least once: on a busy machine it may not have had a core before.
    for (; !stops || passed == 0; ++passed) {
      ADAPTYST_REGION("busy");
    }
  });
  for (long child = 0; child != children; ++child) {
    ADAPTYST_REGION("launch");
    if (fork() != 0) continue;
    if (count > 4 && dlopen(arguments[4], RTLD_NOW) == nullptr) _exit(1);
    for (int at = 0; at != 5; ++at) {
      ADAPTYST_REGION("child");
    }
    _exit(0);
  }
  bool is_well = wait_for_children();
  for (long child = 0; child != sharing; ++child) waitpid(start_sharing(), nullptr, 0);
  constexpr std::size_t stack_bytes = 1 << 20;
  const std::unique_ptr<char[]> stack(new char[stack_bytes]);
  for (long child = 0; child != sharing; ++child)
    waitpid(clone(&pass_cloned, stack.get() + stack_bytes, CLONE_VM | SIGCHLD, nullptr), nullptr, 0);
  for (long child = 0; child != threaded; ++child) {
    pid_t made;
    {
      ADAPTYST_REGION("launch");
      made = fork();
      if (made == 0) pass_in_threads(child % 2 != 0);
    }
    if (made == 0) _exit(0);
  }
  is_well = wait_for_children() && is_well;
  stops = true;
  busy.join();
  std::printf("%ld\n", passed);
  return is_well ? 0 : 1;
}
