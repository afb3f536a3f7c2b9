// Takes memory from the heap in small blocks and frees it, so that later large blocks fit into the heap and are not
// mapped.
#include "heap_reserve.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace adaptyst::lib {

namespace {

constexpr std::size_t small_block_bytes = 2 << 20;
constexpr std::size_t large_block_bytes = 32 << 20;
constexpr std::size_t block_bytes = 120 << 10;  // below the smallest mapped size, 128 KiB

struct block {
  block* before;
};

// volatile: a compiler may remove a block that is not written to.
block* take() {
  block* volatile const made = static_cast<block*>(std::malloc(block_bytes));
  return made;
}

block* take_blocks(std::size_t bytes) {
  block* last = nullptr;
  for (std::size_t taken = 0; taken < bytes; taken += block_bytes) {
    block* const next = take();
    if (next == nullptr) break;
    next->before = last;
    last = next;
  }
  return last;
}

// The program's heap ends at the address of brk(); heaps of threads are mapped above it.
bool is_in_program_heap(const void* there) {
  return reinterpret_cast<std::uintptr_t>(there) < reinterpret_cast<std::uintptr_t>(sbrk(0));
}

void give_back(block* last) {
  while (last != nullptr) {
    block* const before = last->before;
    std::free(last);
    last = before;
  }
}

}  // namespace

// Small blocks take the smallest free room that fits, and may stay there: the first room is for them. The second room
// is then in one piece at the end, and goes back to the system.
heap_reserve::heap_reserve() {
  block* const tried = take();
  const bool is_own = tried != nullptr && !is_in_program_heap(tried);
  std::free(tried);
  if (!is_own) return;
  block* const first = take_blocks(small_block_bytes);
  between_ = take();
  block* const second = take_blocks(large_block_bytes);
  behind_ = take();
  give_back(first);
  give_back(second);
}

heap_reserve::~heap_reserve() {
  std::free(between_);
  std::free(behind_);
}

}  // namespace adaptyst::lib
