// Keeps room in the heap of this thread. glibc maps a block only if its heap has no room for it. When a mapped block is
// freed, glibc permanently raises the size from which it maps blocks, for the whole program.
#ifndef ADAPTYST_LIB_SUPPORT_HEAP_RESERVE_HPP
#define ADAPTYST_LIB_SUPPORT_HEAP_RESERVE_HPP

#include <cstddef>

namespace adaptyst::lib {

// The size of a reserve, in addresses. It uses one page of memory for each 120 KiB: 32 MiB take 0.7 ms, or 5 to 10 ms if page
// faults are slow, as in some virtual machines.
struct heap_room {
  std::size_t bytes = std::size_t{32} << 20;
  // The beginning of the room uses huge pages. If page faults are slow, loading the kernel's types takes a quarter of the
  // time.
  std::size_t huge_bytes = 0;
};

// For results of few regions, with few operations of devices.
constexpr heap_room small_heap_room{std::size_t{4} << 20, 0};

// Room for large blocks. With another allocator than glibc's, it has no effect. If threads share the program's heap
// (MALLOC_ARENA_MAX=1), it takes no room, which would be in the program's heap.
class heap_reserve {
 public:
  explicit heap_reserve(heap_room room = {});
  ~heap_reserve();
  heap_reserve(const heap_reserve&) = delete;
  heap_reserve& operator=(const heap_reserve&) = delete;

 private:
  void* between_ = nullptr;
  void* behind_ = nullptr;
};

// For the command, which has a process of its own: the first 64 MiB of its heap use huge pages, also for large blocks,
// and freed memory stays in the heap. If a page fault takes 20 us, 20 MB of small blocks take 8 ms instead of 110.
void use_huge_pages_in_heap();

}  // namespace adaptyst::lib

#endif
