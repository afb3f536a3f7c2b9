// Room in the heap of this thread, for as long as it lives: glibc maps a block for itself only if it finds no room for it, and
// when such a block is freed, the size from which on blocks are mapped rises, in the whole program and for good.
#ifndef ADAPTYST_LIB_SUPPORT_ROOM_IN_HEAP_HPP
#define ADAPTYST_LIB_SUPPORT_ROOM_IN_HEAP_HPP

namespace adaptyst::lib {

// 32 MiB of addresses for large blocks. Of memory it takes a page for each 120 KiB; 0.7 ms in all. With another allocator
// than glibc's it changes nothing. Where threads share the program's own heap (MALLOC_ARENA_MAX=1) it takes nothing: room
// there would be the program's.
class room_in_heap {
 public:
  room_in_heap();
  ~room_in_heap();
  room_in_heap(const room_in_heap&) = delete;
  room_in_heap& operator=(const room_in_heap&) = delete;

 private:
  void* between_ = nullptr;
  void* behind_ = nullptr;
};

}  // namespace adaptyst::lib

#endif
