// many_threads SHORT TOGETHER SECONDS: SHORT threads that each pass a region and end, 50 at once, then TOGETHER threads
// at once, which sleep before they compute.
// many_threads in-turn THREADS: THREADS that each pass a region and end, one after another, while 200 others live. Prints how
// many mappings of memory were added meanwhile.
// Each allocates a block of 1,000 bytes in its region. Prints how many have done so, and the number of tests whether a thread
// lives.
#include <adaptyst/region.hpp>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace {

std::atomic<unsigned> short_ones{0}, together{0}, tests{0};
pthread_barrier_t all_are_here;
unsigned pause_s = 0;

void allocate() { std::free(std::malloc(1000)); }

void compute_for_half_a_ms() {
  timespec used{};
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  while (used.tv_sec == 0 && used.tv_nsec < 500'000);
}

void* pass_once(void*) {
  {
    ADAPTYST_REGION("short");
    allocate();
  }
  ++short_ones;
  return nullptr;
}

void* meet(void*) {
  { ADAPTYST_REGION("comes"); }
  pthread_barrier_wait(&all_are_here);
  const timespec pause{static_cast<time_t>(pause_s), 0};
  nanosleep(&pause, nullptr);
  {
    ADAPTYST_REGION("together");
    allocate();
    compute_for_half_a_ms();
  }
  ++together;
  return nullptr;
}

void* stay(void*) {
  { ADAPTYST_REGION("stays"); }
  pthread_barrier_wait(&all_are_here);
  pthread_barrier_wait(&all_are_here);
  return nullptr;
}

void run(unsigned threads, void* (*work)(void*)) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{128} << 10);
  std::vector<pthread_t> made(threads);
  for (pthread_t& thread : made)
    if (pthread_create(&thread, &small, work, nullptr) != 0) std::exit(77);
  for (const pthread_t thread : made) pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
}

std::ptrdiff_t count_mappings() {
  std::ifstream file("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

void run_in_turn(unsigned threads) {
  constexpr unsigned living = 200;
  pthread_barrier_init(&all_are_here, nullptr, living + 1);
  std::thread others([] { run(living, stay); });
  pthread_barrier_wait(&all_are_here);
  const std::ptrdiff_t before = count_mappings();
  while (threads-- != 0) run(1, pass_once);
  std::printf("added %td\n", count_mappings() - before);
  pthread_barrier_wait(&all_are_here);
  others.join();
}

}  // namespace

// Intercepts syscall(), also for the recorder: counts its tests whether a thread lives.
extern "C" long syscall(long number, ...) {
  va_list all;
  va_start(all, number);
  long words[6];
  for (long& word : words) word = va_arg(all, long);
  va_end(all);
  if (number == SYS_tgkill) ++tests;
  static const auto next_syscall = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  return next_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int main(int, char** arguments) {
  const auto number = [&](int at) { return static_cast<unsigned>(std::atoi(arguments[at])); };
  if (std::strcmp(arguments[1], "in-turn") == 0) {
    run_in_turn(number(2));
    return 0;
  }
  constexpr unsigned at_once = 50;
  for (unsigned left = number(1); left != 0; left -= at_once) run(at_once, pass_once);
  pause_s = number(3);
  pthread_barrier_init(&all_are_here, nullptr, number(2));
  run(number(2), meet);
  std::printf("short %u together %u tests %u\n", short_ones.load(), together.load(), tests.load());
  return 0;
}
