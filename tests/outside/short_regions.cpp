// A program of nothing but short regions: short_regions TIMES [CHILDREN]
//
// A thread passes TIMES regions with a payload, the main one TIMES regions in others; before that each of CHILDREN
// children passes TIMES, and exits.
#include <adaptyst/adaptyst.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace {

struct bytes_in {
  long bytes;
};

void work() {
  for (int turn = 0; turn != 40; ++turn) __asm__ volatile("" : "+r"(turn));  // no compiler knows when it is over
}

}  // namespace

int main(int count, char** arguments) {
  const long times = count > 1 ? std::atol(arguments[1]) : 0;
  for (long child = count > 2 ? std::atol(arguments[2]) : 0; child != 0; --child) {
    if (fork() != 0) continue;
    for (long at = 0; at != times; ++at) {
      ADAPTYST_REGION("child");
      work();
    }
    std::exit(0);
  }
  while (wait(nullptr) > 0) {}
  std::thread other([&] {
    for (long at = 0; at != times; ++at) {
      ADAPTYST_REGION("thread", bytes_in{8});
      work();
    }
  });
  for (long at = 0; at != times; ++at) {
    ADAPTYST_REGION("outer");
    ADAPTYST_REGION("inner");
    work();
  }
  other.join();
}
