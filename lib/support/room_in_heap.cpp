// Takes memory from the heap in small blocks and gives it back, so that large blocks that are needed later fit into the
// heap and are not mapped.
#include "room_in_heap.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace adaptyst::lib {

namespace {

constexpr std::size_t room_for_small_bytes = 2 << 20;
constexpr std::size_t room_for_large_bytes = 32 << 20;
constexpr std::size_t block_bytes = 120 << 10;  // less than is ever mapped, 128 KiB

struct block {
  block* before;
};

// A compiler may leave out a block that is not written to.
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

// The program's own heap ends where brk() says; those of threads are mapped above it.
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

// Small blocks take the smallest free room that they fit into, and may stay there. The first room is meant for them: so
// the second one is in one piece again at the end, and goes back to the system.
room_in_heap::room_in_heap() {
  block* const tried = take();
  const bool is_own = tried != nullptr && !is_in_program_heap(tried);
  std::free(tried);
  if (!is_own) return;
  block* const first = take_blocks(room_for_small_bytes);
  between_ = take();
  block* const second = take_blocks(room_for_large_bytes);
  behind_ = take();
  give_back(first);
  give_back(second);
}

room_in_heap::~room_in_heap() {
  std::free(between_);
  std::free(behind_);
}

}  // namespace adaptyst::lib
