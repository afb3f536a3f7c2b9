// Takes memory from the heap in small blocks and frees it, so that later large blocks fit into the heap and are not
// mapped.
#include "heap_reserve.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace adaptyst::lib {

namespace {

constexpr std::size_t most_for_small_blocks = 2 << 20;
constexpr std::size_t huge_page_bytes = 2 << 20;
constexpr std::size_t block_bytes = 120 << 10;  // below the smallest mapped size, 128 KiB
constexpr std::size_t huge_heap_bytes = 64 << 20;

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

// Takes blocks up to the next huge page.
block* take_rest_of_page(block* last) {
  // An allocator may place blocks anywhere.
  for (std::size_t at = 0; last != nullptr && at <= huge_page_bytes / block_bytes; ++at) {
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(last) + block_bytes;
    if (huge_page_bytes - end % huge_page_bytes <= 2 * block_bytes) break;
    block* const next = take();
    if (next == nullptr) break;
    next->before = last;
    last = next;
  }
  return last;
}

// Linux 6.1 and later; otherwise the room has small pages. The memory keeps its content.
void use_huge_pages(const void* begin, const void* end, std::size_t bytes) {
  const std::uintptr_t room = reinterpret_cast<std::uintptr_t>(end) - reinterpret_cast<std::uintptr_t>(begin);
  if (bytes == 0 || end < begin || room < bytes + huge_page_bytes) return;
  constexpr int collapse = 25;  // MADV_COLLAPSE, which older headers lack
  const std::uintptr_t first =
      (reinterpret_cast<std::uintptr_t>(begin) + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  static_cast<void>(madvise(reinterpret_cast<void*>(first), bytes / huge_page_bytes * huge_page_bytes, collapse));
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
heap_reserve::heap_reserve(heap_room room) {
  block* const tried = take();
  const bool is_own = tried != nullptr && !is_in_program_heap(tried);
  std::free(tried);
  if (!is_own) return;
  block* first = take_blocks(std::min(most_for_small_blocks, room.bytes / 4));
  if (room.huge_bytes != 0) first = take_rest_of_page(first);
  between_ = take();
  block* const second = take_blocks(room.bytes);
  behind_ = take();
  use_huge_pages(between_, behind_, room.huge_bytes);
  give_back(first);
  give_back(second);
}

void use_huge_pages_in_heap() {
#ifdef M_TOP_PAD  // of glibc
  const void* const before = sbrk(0);
  mallopt(M_MMAP_THRESHOLD, huge_heap_bytes / 2);
  mallopt(M_TRIM_THRESHOLD, huge_heap_bytes);
  mallopt(M_TOP_PAD, huge_heap_bytes);
  block* last = nullptr;
  std::uintptr_t begin = 0;
  constexpr int max_blocks = 8;  // the heap may have room for some
  for (int at = 0; at != max_blocks && sbrk(0) == before; ++at) {
    block* const next = take();
    if (next == nullptr) break;
    if (last == nullptr) begin = reinterpret_cast<std::uintptr_t>(next);
    next->before = last;
    last = next;
  }
  const bool is_grown = sbrk(0) != before && is_in_program_heap(last);
  give_back(last);
  constexpr int usual_pad = 128 << 10;
  mallopt(M_TOP_PAD, usual_pad);
  if (!is_grown) return;
  begin = (begin + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / huge_page_bytes * huge_page_bytes;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

heap_reserve::~heap_reserve() {
  std::free(between_);
  std::free(behind_);
}

}  // namespace adaptyst::lib
