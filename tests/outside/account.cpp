// The account of a profile that is made from outside while threads and processes mark as fast as they can.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <adaptyst/profile.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "collecting.hpp"
#include "session/observer.hpp"

namespace {

constexpr int snapshots = 200;
constexpr std::chrono::seconds longest{12};

// A program with two threads and one child of its own, in a group of its own.
class load {
 public:
  load() : process_(fork()) {
    if (process_ != 0) return;
    setpgid(0, 0);
    execl(ADAPTYST_TEST_MARKED, ADAPTYST_TEST_MARKED, "1000000000", "1", nullptr);
    _exit(127);
  }
  ~load() {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  load(const load&) = delete;
  load& operator=(const load&) = delete;
  pid_t process() const { return process_; }

 private:
  pid_t process_;
};

// Answers programs until one of them has been observed.
void wait_for_events(adaptyst::observer& by) {
  const auto until = std::chrono::steady_clock::now() + longest;
  while (by.snapshot().accounting.ended == 0 && std::chrono::steady_clock::now() < until) {
    pollfd announced{by.descriptor(), POLLIN, 0};
    if (poll(&announced, 1, 20) > 0) by.handle();
  }
}

std::uint64_t sum_of_losses(const adaptyst::profile& in) {
  std::uint64_t sum = 0;
  for (const auto& [why, count] : in.accounting.lost) sum += count;
  return sum;
}

void check_each_snapshot(adaptyst::observer& by) {
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t before = 0;
  int taken = 0, grown = 0;
  for (; taken != snapshots && std::chrono::steady_clock::now() - begun < longest; ++taken) {
    usleep(5000);
    by.handle();
    if (taken % 10 == 0) by.poll();
    const adaptyst::profile now = by.snapshot();
    CAPTURE(taken);
    REQUIRE(now.engine == support::engine());
    REQUIRE(now.accounting.begun == now.accounting.ended + now.accounting.open + sum_of_losses(now));
    REQUIRE(now.accounting.ended >= before);
    grown += now.accounting.ended > before ? 1 : 0;
    before = now.accounting.ended;
  }
  CHECK(taken >= snapshots / 2);  // on a busy machine
  CHECK(grown > taken / 10);      // threads wait for a core
  const adaptyst::profile last = by.stop();
  CHECK(last.accounting.begun == last.accounting.ended + last.accounting.open + sum_of_losses(last));
  CHECK(last.accounting.ended >= before);
}

}  // namespace

TEST_CASE("the account holds in 200 snapshots of a program that was started") {
  adaptyst::observer by(support::options());
  setenv("ADAPTYST_OBSERVER", by.socket().c_str(), 1);
  const load running;
  unsetenv("ADAPTYST_OBSERVER");
  wait_for_events(by);
  check_each_snapshot(by);
}

TEST_CASE("the account holds in 200 snapshots of a program that was attached to") {
  const load running;
  usleep(300'000);  // it has begun
  adaptyst::observer by(support::options());
  by.attach(running.process());
  check_each_snapshot(by);
}
