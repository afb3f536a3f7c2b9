// Has a collector, and leaves in many ways: leaving HOW
//
// It passes the region "work" ten times before, and says "left" when what is destroyed last is destroyed.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

void work() {
  for (int at = 0; at != 10; ++at) {
    ADAPTYST_REGION("work");
  }
}

// Passes regions when it is destroyed, by exit() or behind main().
struct late {
  const char* name;
  ~late() {
    { ADAPTYST_REGION("late"); }
    std::puts(name);
    std::fflush(stdout);
  }
};

const late before_main{"left"};

[[noreturn]] void leave_in_a_region() {
  ADAPTYST_REGION("outer");
  ADAPTYST_REGION("inner");
  std::exit(3);
}

[[noreturn]] void leave_among_others() {
  for (int at = 0; at != 3; ++at)
    std::thread([] {
      for (;;) {
        ADAPTYST_REGION("beside");
      }
    }).detach();
  usleep(20'000);
  std::exit(3);
}

[[noreturn]] void leave_on_another_thread() {
  std::thread([] { std::exit(3); }).detach();
  for (;;) {
    ADAPTYST_REGION("main");
    usleep(100);
  }
}

// While others ask for snapshots.
[[noreturn]] void leave_while_it_is_read(const adaptyst::collector& collector) {
  std::thread([&collector] {
    for (;;) static_cast<void>(collector.snapshot());
  }).detach();
  usleep(20'000);
  std::exit(3);
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int leave_in_children() {
  std::atomic<bool> stops{false};
  std::atomic<int> rounds{0};
  std::thread busy([&] {
    for (; !stops; ++rounds) {
      ADAPTYST_REGION("busy");
    }
  });
  int all = 0;
  for (int at = 0; at != 20; ++at) {
    const pid_t child = fork();
    if (child == 0) std::exit(4);
    all += wait_for(child);
  }
  // On a busy machine it may not have had a core until now.
  while (rounds < 20) std::this_thread::yield();
  stops = true;
  busy.join();
  return all == 80 ? 3 : 9;
}

int leave_in_a_child_that_collects() {
  const pid_t child = fork();
  if (child == 0) {
    const adaptyst::collector own("report=table");
    { ADAPTYST_REGION("child"); }
    std::exit(4);
  }
  return wait_for(child) == 4 ? 3 : 9;
}

// Becomes what it was in a child, so that all have the same options.
int run_itself_twice(char* program) {
  int all = 0;
  for (int at = 0; at != 2; ++at) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", program, "return", nullptr);
      _exit(9);
    }
    all += wait_for(child);
  }
  return all == 6 ? 3 : 9;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view how = count > 1 ? arguments[1] : "return";
  if (how == "static") {
    static const adaptyst::collector for_ever;
    work();
    std::exit(3);
  }
  if (how == "leaked") {
    static adaptyst::collector* const leaked = new adaptyst::collector;
    work();
    return leaked->error() == nullptr ? 3 : 9;
  }
  adaptyst::collector collector;
  static const late behind_it{"destroyed before it reports"};
  work();
  if (how == "exit") std::exit(3);
  if (how == "region") leave_in_a_region();
  if (how == "beside") leave_among_others();
  if (how == "thread") leave_on_another_thread();
  if (how == "read") leave_while_it_is_read(collector);
  if (how == "children") return leave_in_children();
  if (how == "children_and_exit") std::exit(leave_in_children());
  if (how == "collecting_child") return leave_in_a_child_that_collects();
  if (how == "twice") return run_itself_twice(arguments[0]);
  if (how == "stopped") {
    collector.stop();
    std::exit(3);
  }
  if (how == "snapshot") {
    static_cast<void>(collector.snapshot());
    std::exit(3);
  }
  if (how == "zero") return 0;
  if (how == "_exit") _exit(3);
  if (how == "quick_exit") std::quick_exit(3);
  return 3;
}
