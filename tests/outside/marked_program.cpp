// What the tests look at from outside: marked_program COUNT [FORKS [MICROSECONDS [EXECS [PLUGIN]]]]
//
// A thread and the main one pass COUNT regions each, the main one two levels deep, with a pause of MICROSECONDS in
// each; before that FORKS children pass COUNT regions; at the end the program becomes itself again, EXECS times.
// Half-way the main thread loads PLUGIN, and lets it pass regions from then on.
//
// Built with COLLECTING it has a collector of its own.
#include <adaptyst/adaptyst.hpp>
#ifdef COLLECTING
#include <adaptyst/collector.hpp>
#endif
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

struct bytes_in {
  long bytes;
};

}  // namespace

// Without a marker, and with a first instruction at which a probe is cheap.
#ifdef __clang__
#define KEPT_WHOLE __attribute__((noinline))
#else
#define KEPT_WHOLE __attribute__((noinline, noclone))
#endif
extern "C" KEPT_WHOLE void unmarked_pause(useconds_t microseconds) {
  __asm__ volatile("" : : : "rbx", "memory");
  if (microseconds != 0) usleep(microseconds);
}

int main(int count, char** arguments) {
#ifdef COLLECTING
  const adaptyst::collector collector;
#endif
  const auto argument = [&](int at) { return count > at ? std::atol(arguments[at]) : 0; };
  const long times = argument(1);
  const auto pause = static_cast<useconds_t>(argument(3));
  for (long child = 0; child != argument(2); ++child) {
    if (fork() != 0) continue;
    for (long at = 0; at != times; ++at) {
      ADAPTYST_REGION("child");
      unmarked_pause(0);
    }
    std::_Exit(0);  // without saying goodbye
  }
  std::thread other([&] {
    for (long at = 0; at != times; ++at) {
      ADAPTYST_REGION("thread", bytes_in{8});
      unmarked_pause(pause);
    }
  });
  void (*run)(int) = nullptr;
  for (long at = 0; at != times; ++at) {
    if (count > 5 && at == times / 2)
      run = reinterpret_cast<void (*)(int)>(dlsym(dlopen(arguments[5], RTLD_NOW), "run"));
    if (run != nullptr) run(1);
    ADAPTYST_REGION("outer");
    ADAPTYST_REGION("inner");
    unmarked_pause(pause);
  }
  other.join();
  while (wait(nullptr) > 0) {}
  if (argument(4) != 0) {
    const std::string left = std::to_string(argument(4) - 1);
    execl("/proc/self/exe", arguments[0], arguments[1], arguments[2], arguments[3], left.c_str(), nullptr);
    return 9;
  }
  std::puts("done");
  return 3;
}
