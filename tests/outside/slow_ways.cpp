// Slow in one way at a time, or in none: slow_ways clean|lock|cores|faults|pipe|uneven
#include <adaptyst/adaptyst.hpp>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// On a core, however many others want it.
void compute(long microseconds) {
  const auto used_us = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
  };
  const long begun = used_us();
  while (used_us() - begun < microseconds) {}
}

template <class Work>
void on_threads(std::size_t count, const Work& work) {
  std::vector<std::thread> all;
  for (std::size_t at = 0; at != count; ++at) all.emplace_back(work, at);
  for (std::thread& thread : all) thread.join();
}

void clean() {
  for (int step = 0; step != 500; ++step) {
    ADAPTYST_REGION("step");
    compute(500);
    ADAPTYST_REGION("flux");
    compute(1500);
  }
}

void wait_for_a_lock() {
  std::mutex only_one;
  on_threads(3, [&](std::size_t) {
    for (int turn = 0; turn != 100; ++turn) {
      ADAPTYST_REGION("update");
      const std::lock_guard held(only_one);
      usleep(1000);  // so that it is held as long on a busy machine
    }
  });
}

void wait_for_cores() {
  cpu_set_t usable;
  sched_getaffinity(0, sizeof usable, &usable);
  on_threads(4 * static_cast<std::size_t>(CPU_COUNT(&usable)), [](std::size_t) {
    for (int turn = 0; turn != 100; ++turn) {
      ADAPTYST_REGION("flux");
      compute(1000);
    }
  });
}

void touch_new_memory() {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  for (int turn = 0; turn != 200; ++turn) {
    ADAPTYST_REGION("allocate");
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
    munmap(memory, bytes);
  }
}

void wait_for_a_pipe() {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::thread writer([&] {
    for (int turn = 0; turn != 200; ++turn) {
      usleep(2000);
      if (write(ends[1], "x", 1) != 1) return;
    }
  });
  for (int turn = 0; turn != 200; ++turn) {
    ADAPTYST_REGION("receive");
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1) break;
  }
  writer.join();
}

void share_unevenly() {
  on_threads(3, [](std::size_t number) {
    for (int turn = 0; turn != 50; ++turn) {
      ADAPTYST_REGION("share");
      compute(number == 0 ? 8000 : 1000);
    }
  });
}

}  // namespace

int main(int count, char** arguments) {
  const std::string way = count > 1 ? arguments[1] : "";
  if (way == "clean") clean();
  else if (way == "lock") wait_for_a_lock();
  else if (way == "cores") wait_for_cores();
  else if (way == "faults") touch_new_memory();
  else if (way == "pipe") wait_for_a_pipe();
  else if (way == "uneven") share_unevenly();
  else return 2;
  std::puts("done");
}
