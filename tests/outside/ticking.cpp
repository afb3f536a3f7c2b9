// Programs for samples by timers: ticking CASE SECONDS. Each prints its CPU time in us, and a second number.
//
//   threads   four threads compute in in_thread(), of which two end by pthread_exit(); then 200 threads of a millisecond
//   fork      the process computes in in_parent(), its child in in_child()
//   handler   has a handler of SIGURG, and sends itself one; the number: calls
//   blocked   computes with all signals blocked
//   ignored   ignores SIGURG, and restores the default, as programs do at their start; the number: different actions
//   reading   reads from a pipe, also while it gets a SIGURG of another thread; the number: reads that failed
//   sleeping  sleeps for 20 us again and again; the number: sleeps that were interrupted
//   errno     computes with errno set; the number: changes of errno
//   deep      recurses so deep that the stack does not fit into a copy
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <adaptyst/region.hpp>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

volatile unsigned long sink = 0;
volatile sig_atomic_t calls = 0;

double cpu_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
double thread_seconds() { return cpu_seconds(CLOCK_THREAD_CPUTIME_ID); }

__attribute__((noinline)) void compute(double seconds) {
  const double end = thread_seconds() + seconds;
  do
    for (int step = 0; step != 10'000; ++step) sink = sink * 3 + 1;
  while (thread_seconds() < end);
}

}  // namespace

__attribute__((noinline)) void in_thread(double seconds) {
  ADAPTYST_REGION("threaded");
  compute(seconds);
  sink = sink + 1;
}
__attribute__((noinline)) void in_short_thread(double seconds) {
  ADAPTYST_REGION("short");
  compute(seconds);
  sink = sink + 1;
}
__attribute__((noinline)) void in_parent(double seconds) {
  ADAPTYST_REGION("parent");
  compute(seconds);
  sink = sink + 1;
}
__attribute__((noinline)) void in_child(double seconds) {
  ADAPTYST_REGION("child");
  compute(seconds);
  sink = sink + 1;
}
__attribute__((noinline)) void in_main(double seconds) {
  ADAPTYST_REGION("main");
  compute(seconds);
  sink = sink + 1;
}
__attribute__((noinline)) void descend(unsigned levels, double seconds) {
  volatile char room[1024];
  room[levels % sizeof room] = 1;
  if (levels == 0) compute(seconds);
  else descend(levels - 1, seconds);
  sink = sink + static_cast<unsigned char>(room[0]);
}

namespace {

void* run_and_exit(void* seconds) {
  in_thread(*static_cast<double*>(seconds));
  pthread_exit(nullptr);
}

long run_threads(double seconds) {
  double each = seconds / 4;
  pthread_t ends[2];
  std::vector<std::thread> threads;
  for (pthread_t& thread : ends)
    if (pthread_create(&thread, nullptr, run_and_exit, &each) != 0) std::exit(1);
  threads.reserve(2);
  for (int at = 0; at != 2; ++at) threads.emplace_back(in_thread, each);
  for (const pthread_t thread : ends) pthread_join(thread, nullptr);
  for (std::thread& thread : threads) thread.join();
  for (int at = 0; at != 200; ++at) std::thread(in_short_thread, 0.001).join();
  return 0;
}

long run_fork(double seconds) {
  const pid_t child = fork();
  if (child == 0) {
    in_child(seconds);
    std::_Exit(0);
  }
  in_parent(seconds);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

long run_with_handler(double seconds) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { calls = calls + 1; };
  if (sigaction(SIGURG, &action, &before) != 0 || before.sa_handler != SIG_DFL) std::exit(1);
  in_main(seconds / 2);
  raise(SIGURG);
  in_main(seconds / 2);
  return calls;
}

long run_ignoring(double seconds) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  long different = 0;
  if (signal(SIGURG, SIG_DFL) != SIG_DFL) ++different;
  if (sigaction(SIGURG, &action, nullptr) != 0) ++different;
  if (sigaction(SIGURG, nullptr, &action) != 0 || action.sa_handler != SIG_DFL || action.sa_flags != 0) ++different;
  in_main(seconds);
  return different;
}

long run_blocked(double seconds) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  in_main(seconds);
  return 0;
}

long run_reading(double seconds) {
  ADAPTYST_REGION("reading");
  int ends[2];
  if (pipe(ends) != 0) return -1;
  std::atomic<bool> is_over{false};
  const pthread_t reader = pthread_self();
  std::thread writer([&] {
    static char bytes[65536];
    for (unsigned round = 0; !is_over; ++round) {
      if (write(ends[1], bytes, sizeof bytes) < 0) std::exit(1);
      if (round % 64 != 0) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      pthread_kill(reader, SIGURG);
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    close(ends[1]);
  });
  static char bytes[65536];
  long failed = 0;
  const double end = thread_seconds() + seconds;
  for (ssize_t got = 1; got != 0; got = read(ends[0], bytes, sizeof bytes)) {
    if (got < 0) ++failed;
    is_over = is_over || thread_seconds() >= end;
  }
  writer.join();
  return failed;
}

long run_sleeping(double seconds) {
  long interrupted = 0;
  const timespec pause{0, 20'000};
  const double end = thread_seconds() + seconds;
  while (thread_seconds() < end)
    if (nanosleep(&pause, nullptr) != 0) ++interrupted;
  return interrupted;
}

long run_with_errno(double seconds) {
  long changes = 0;
  const double end = thread_seconds() + seconds;
  do {
    errno = 117;
    for (int step = 0; step != 100'000; ++step) sink = sink * 3 + 1;
    __asm__ volatile("" ::: "memory");  // a handler may have changed it
    if (errno != 117) ++changes;
  } while (thread_seconds() < end);
  return changes;
}

}  // namespace

int main(int count, char** given) {
  const std::string what = count > 1 ? given[1] : "";
  const double seconds = count > 2 ? std::atof(given[2]) : 1;
  long number = 0;
  if (what == "threads") number = run_threads(seconds);
  else if (what == "fork") number = run_fork(seconds);
  else if (what == "handler") number = run_with_handler(seconds);
  else if (what == "blocked") number = run_blocked(seconds);
  else if (what == "ignored") number = run_ignoring(seconds);
  else if (what == "reading") number = run_reading(seconds);
  else if (what == "sleeping") number = run_sleeping(seconds);
  else if (what == "errno") number = run_with_errno(seconds);
  else if (what == "deep") descend(100, seconds);
  else return 2;
  std::printf("%ld %ld\n", static_cast<long>(cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e6), number);
}
