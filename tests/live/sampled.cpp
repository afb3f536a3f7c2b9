// A program with known shares and a known chain of calls, for the tests of samples: sampled COMMAND SECONDS.
//
//   fixed, random   loops of 70 and 30 microseconds, the same ones each time or anew at random
//   chain           computes in outer > middle > inner, sleeps in rest > doze
//   short           regions "first" and "second" of about a microsecond, each with a function of its own
//   burst           200,000 of these regions, while the parent process is stopped
//
// SECONDS are of CPU time, so that samples are as many on a busy machine; half of them in `chain`, which sleeps for the other
// half. At the end it prints its CPU time in microseconds. Built with COLLECTING, it has its own collector, prints the CPU
// time of the main thread after the collector's start. `chain` then also forks a child process that computes in
// in_child(), and takes snapshots.
#include <adaptyst/region.hpp>
#ifdef COLLECTING
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cstring>
#include <optional>
#include <vector>
#endif

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <thread>

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::duration;
using std::chrono::microseconds;

volatile unsigned long sink = 0;

double thread_cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

__attribute__((noinline)) void spin_until(clock_type::time_point end) {
  while (clock_type::now() < end) sink = sink + 1;
}

// The end of each is the beginning of the next: what a loop does that works by the clock.
void alternate(bool random, double seconds) {
  std::minstd_rand numbers(7);
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  clock_type::time_point at = clock_type::now();
  const double end = thread_cpu_seconds() + seconds;
  for (unsigned round = 0; round % 64 != 0 || thread_cpu_seconds() < end; ++round) {
    const auto length = [&](double us) {
      return std::chrono::duration_cast<clock_type::duration>(
          duration<double, std::micro>(us * (random ? factor(numbers) : 1)));
    };
    {
      ADAPTYST_REGION("seventy");
      spin_until(at + length(70));
    }
    at = clock_type::now();
    {
      ADAPTYST_REGION("thirty");
      spin_until(at + length(30));
    }
    at = clock_type::now();
  }
}

}  // namespace

__attribute__((noinline)) void inner(double seconds) {
  const double end = thread_cpu_seconds() + seconds;
  constexpr unsigned steps = 1U << 20U;  // the clock is read rarely: ticks come after calls of the kernel
  for (unsigned step = 0; step % steps != 0 || thread_cpu_seconds() < end; ++step) sink = sink * 3 + 1;
}
__attribute__((noinline)) void middle(double seconds) {
  inner(seconds);
  sink = sink + 1;  // no tail call
}
__attribute__((noinline)) void outer(double seconds) {
  ADAPTYST_REGION("computes");
  middle(seconds);
  sink = sink + 1;
}
// The caller of a function without frame pointer, as the C library's are, is not in the stack: so there is one between.
__attribute__((noinline)) void doze(double seconds) {
  std::this_thread::sleep_for(duration<double>(seconds));
  sink = sink + 1;
}
__attribute__((noinline)) void rest(double seconds) {
  ADAPTYST_REGION("sleeps");
  for (int round = 0; round != 20; ++round) doze(seconds / 20);
  sink = sink + 1;
}

__attribute__((noinline)) void in_first() {
  for (int step = 0; step != 400; ++step) sink = sink + 1;
}
__attribute__((noinline)) void in_second() {
  for (int step = 0; step != 400; ++step) sink = sink + 3;
}
void run_rounds(int rounds) {
  for (int round = 0; round != rounds; ++round) {
    {
      ADAPTYST_REGION("first");
      in_first();
    }
    ADAPTYST_REGION("second");
    in_second();
  }
}
void run_short(double seconds) {
  ADAPTYST_REGION("around");
  const double end = thread_cpu_seconds() + seconds;
  while (thread_cpu_seconds() < end) run_rounds(1000);
}
void run_burst() {
  ADAPTYST_REGION("around");
  run_rounds(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the observer empties the rings
  kill(getppid(), SIGSTOP);
  run_rounds(100'000);
  kill(getppid(), SIGCONT);
}

#ifdef COLLECTING
__attribute__((noinline)) void in_child(double seconds) {
  inner(seconds);
  sink = sink + 1;
}
long thread_cpu_us() { return static_cast<long>(thread_cpu_seconds() * 1e6); }
#endif

int main(int count, char** given) {
#ifdef COLLECTING
  std::optional<adaptyst::collector> collector(std::in_place);
  const long begun_us = thread_cpu_us();
#endif
  const std::string what = count > 1 ? given[1] : "";
  const double seconds = count > 2 ? std::atof(given[2]) : 1;
  if (what == "fixed" || what == "random") {
    alternate(what == "random", seconds);
  } else if (what == "chain") {
#ifdef COLLECTING
    const pid_t child = fork();
    if (child == 0) {
      in_child(seconds / 2);
      // Also where the parent has its rings.
      constexpr std::size_t bytes = std::size_t{16} << 20;
      void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::vector<void*> pages;
      for (int at = 0; at != 64; ++at)
        pages.push_back(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      collector.reset();
      std::memset(memory, 1, bytes);
      for (void* const page : pages) std::memset(page, 1, 4096);
      _exit(0);
    }
    int status = 0;
    for (int ended = 0; wait(&ended) > 0;)
      status |= ended;  // any child: the collector must not add one that does not end
    if (status != 0) return 1;
#endif
    ADAPTYST_REGION("all");
    outer(seconds / 2);
#ifdef COLLECTING
    for (int times = 0; times != 30; ++times) collector->snapshot();
#endif
    rest(seconds / 2);
  } else if (what == "short") {
    run_short(seconds);
  } else if (what == "burst") {
    run_burst();
  } else {
    std::fprintf(stderr, "usage: sampled fixed|random|chain|short|burst SECONDS\n");
    return 2;
  }
#ifdef COLLECTING
  std::printf("%ld\n", thread_cpu_us() - begun_us);
#else
  std::printf("%ld\n", static_cast<long>(std::clock() / (CLOCKS_PER_SEC / 1'000'000)));
#endif
}
