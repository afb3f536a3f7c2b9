// Starts a program, observes it, leaves it, and attaches to it: observing_twice PROGRAM ARGUMENT…. Prints for both how
// many events it has seen.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "session/observer.hpp"

namespace {

void poll_once(adaptyst::observer& with) {
  for (int at = 0; at != 20; ++at) {
    pollfd announced{with.descriptor(), POLLIN, 0};
    if (poll(&announced, 1, 20) > 0) with.handle();
    with.poll();
  }
  std::printf("%lu\n", static_cast<unsigned long>(with.stop().accounting.ended));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  pid_t child = 0;
  {
    adaptyst::observer first("engine=inline,report=none");
    setenv("ADAPTYST_OBSERVER", first.socket().c_str(), 1);
    if ((child = fork()) == 0) {
      execv(arguments[1], arguments + 1);
      _exit(127);
    }
    poll_once(first);
  }
  {
    adaptyst::observer second("engine=inline,report=none");
    second.attach(child);
    poll_once(second);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}
