// LeakSanitizer searches threads that have thread-local memory of a loaded library, wherever in a page that begins.
#include <dlfcn.h>
#include <sanitizer/lsan_interface.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "catch.hpp"

TEST_CASE("leaks are searched for while threads have memory of a loaded library") {
  void* const library = dlopen(ADAPTYST_TEST_LIBRARY, RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto thread_memory = reinterpret_cast<long* (*)()>(dlsym(library, "thread_memory"));
  REQUIRE(thread_memory != nullptr);
  constexpr unsigned many = 300;  // more than there are blocks of 32 bytes in two pages
  std::atomic<unsigned> begun = 0;
  std::mutex until_the_end;
  std::vector<std::thread> threads;
  until_the_end.lock();
  for (unsigned at = 0; at != many; ++at)
    threads.emplace_back([&] {
      *thread_memory() = 1;
      ++begun;
      const std::lock_guard waited(until_the_end);
    });
  while (begun != many) std::this_thread::yield();
  CHECK(__lsan_do_recoverable_leak_check() == 0);
  until_the_end.unlock();
  for (std::thread& thread : threads) thread.join();
}
