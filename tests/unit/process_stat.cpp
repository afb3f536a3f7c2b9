// Which process it is, from /proc.
#include "support/process_stat.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <ctime>

#include "catch.hpp"

using adaptyst::lib::is_running;
using adaptyst::lib::read_stat;

TEST_CASE("a process, its parent and its start, whatever its name") {
  int gate[2];
  REQUIRE(pipe(gate) == 0);
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    prctl(PR_SET_NAME, "a) R 1 2 (b\n");
    close(gate[1]);
    _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(gate[0]);
  const auto found = read_stat(child);
  REQUIRE(found);
  CHECK(found->parent == getpid());
  const double started = static_cast<double>(found->started) / static_cast<double>(sysconf(_SC_CLK_TCK));
  CHECK(std::abs(started - static_cast<double>(now.tv_sec)) < 5);
  CHECK(is_running(child, found->started));
  CHECK(is_running(child, 0));
  CHECK_FALSE(is_running(child, found->started + 1));
  close(gate[1]);
  waitpid(child, nullptr, 0);
  CHECK_FALSE(read_stat(child));
  CHECK_FALSE(is_running(child, found->started));
  CHECK_FALSE(is_running(child, 0));
}
