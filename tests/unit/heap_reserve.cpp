// Work that takes large blocks of memory apart from the program's heap.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "../../lib/support/heap_reserve.hpp"
#include "../../lib/support/threads.hpp"
#include "catch.hpp"
#include "heap.hpp"

using adaptyst::lib::heap_reserve;
using adaptyst::lib::run_on_thread;

#ifdef ADAPTYST_TEST_HEAP

namespace {

constexpr int large_bytes = 5 << 20;

bool is_mapped_for_itself(void* volatile& block) {
  const std::size_t before = mallinfo2().hblks;
  block = std::malloc(large_bytes);
  return mallinfo2().hblks != before;
}

// In a child, with the threshold that a program begins with, and without free room for large blocks: tests before this
// one may have moved the threshold, and left room.
template <class Question>
bool holds_in_child(Question&& question) {
  const pid_t child = fork();
  if (child == 0) {
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    void* volatile kept = nullptr;
    while (!is_mapped_for_itself(kept) && kept != nullptr) continue;
    _exit(question() ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

bool large_block_is_mapped() {
  void* volatile block = nullptr;  // kept from the compiler
  const bool is_mapped = is_mapped_for_itself(block);
  std::free(block);
  return is_mapped;
}

}  // namespace

TEST_CASE("large blocks find room in the heap and are not mapped for themselves") {
  CHECK(holds_in_child(&large_block_is_mapped));
  CHECK(holds_in_child([] {
    bool is_mapped = true;
    run_on_thread([&] { is_mapped = large_block_is_mapped(); });
    return !is_mapped;
  }));
}

TEST_CASE("large blocks in huge pages take few page faults") {
  CHECK(holds_in_child([] {
    constexpr std::size_t huge = 2 << 20;
    void* const own = std::aligned_alloc(huge, huge);
    std::memset(own, 1, huge);
    if (madvise(own, huge, 25 /* MADV_COLLAPSE */) != 0) return true;  // Linux has none, or no huge page is free
    long faults = 0;
    run_on_thread(
        [&] {
          rusage before{}, after{};
          getrusage(RUSAGE_THREAD, &before);
          for (void* const block : {std::malloc(large_bytes), std::malloc(large_bytes)}) {
            std::memset(block, 1, large_bytes);
            __asm__ volatile("" : : "r"(block) : "memory");  // otherwise an optimising compiler writes nothing
          }
          getrusage(RUSAGE_THREAD, &after);
          faults = after.ru_minflt - before.ru_minflt;
        },
        {std::size_t{32} << 20, std::size_t{14} << 20});
    constexpr long small_pages = 2 * large_bytes / 4096;
    return faults < small_pages / 16;
  }));
}

TEST_CASE("room in the heap goes back to the system") {
  CHECK(holds_in_child([] {
    const std::size_t before = mallinfo2().arena;
    std::size_t meanwhile = 0;
    void* small = nullptr;
    std::thread([&] {
      const heap_reserve room;
      meanwhile = mallinfo2().arena;
      void* volatile const large = std::malloc(large_bytes);
      small = std::malloc(1000);  // stays, but not behind the large one
      std::free(large);
    }).join();
    const std::size_t after = mallinfo2().arena;
    std::free(small);
    return meanwhile > before + (32 << 20) && after < before + (4 << 20);
  }));
}

// Room there would be the program's own.
TEST_CASE("no room is taken where threads share the program's heap") {
  CHECK(holds_in_child([] {
    mallopt(M_ARENA_MAX, 1);
    const std::size_t before = mallinfo2().arena;
    std::size_t meanwhile = 0;
    std::thread([&] {
      const heap_reserve room;
      meanwhile = mallinfo2().arena;
    }).join();
    return meanwhile < before + (4 << 20);
  }));
}

#endif

TEST_CASE("what work apart throws is thrown where it was asked for") {
  CHECK_THROWS_AS(run_on_thread([] { throw std::out_of_range("apart"); }), std::out_of_range);
  bool has_run = false;
  run_on_thread([&] { has_run = true; });
  CHECK(has_run);
}
