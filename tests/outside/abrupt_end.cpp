// Passes short regions for a while, says how many, and ends without goodbye: abrupt_end MILLISECONDS kill|_exit|abort|exec
// Or as a program should: exit.
#include <adaptyst/adaptyst.hpp>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atol(arguments[1]));
  const std::string_view how = arguments[2];
  long regions = 0;
  while (std::chrono::steady_clock::now() < end) {
    ADAPTYST_REGION("short");
    ++regions;
  }
  std::printf("%ld\n", regions);
  std::fflush(stdout);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (how == "kill") raise(SIGKILL);
  if (how == "_exit") _exit(0);
  if (how == "abort") std::abort();
  if (how == "exec") execl("/bin/true", "true", nullptr);
}
