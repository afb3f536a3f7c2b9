#include "apart.hpp"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>

#include "all_signals_blocked.hpp"

namespace adaptyst::lib {

namespace {

// Room in the heap of this thread, for as long as it lives: glibc maps a block only if it finds no room for it.
class room_in_heap {
 public:
  // What is small takes the smallest room that it fits into, and may stay: the first room is for that, so that the second
  // is in one piece again at the end, and goes back to the system.
  room_in_heap() {
    block* const first = take_blocks(room_for_small_bytes);
    between_ = take();
    block* const second = take_blocks(room_for_large_bytes);
    behind_ = take();
    give_back(first);
    give_back(second);
  }
  ~room_in_heap() {
    std::free(between_);
    std::free(behind_);
  }
  room_in_heap(const room_in_heap&) = delete;
  room_in_heap& operator=(const room_in_heap&) = delete;

 private:
  struct block {
    block* before;
  };
  static constexpr std::size_t room_for_small_bytes = 2 << 20;
  static constexpr std::size_t room_for_large_bytes = 32 << 20;
  static constexpr std::size_t block_bytes = 120 << 10;  // less than is ever mapped, 128 KiB

  // A compiler may leave out a block that nobody writes to.
  static block* take() {
    block* volatile const made = static_cast<block*>(std::malloc(block_bytes));
    return made;
  }

  static block* take_blocks(std::size_t bytes) {
    block* last = nullptr;
    for (std::size_t taken = 0; taken < bytes; taken += block_bytes) {
      block* const next = take();
      if (next == nullptr) break;
      next->before = last;
      last = next;
    }
    return last;
  }

  static void give_back(block* last) {
    while (last != nullptr) {
      block* const before = last->before;
      std::free(last);
      last = before;
    }
  }

  block* between_;
  block* behind_;
};

}  // namespace

void run_apart(const std::function<void()>& work) {
  std::exception_ptr thrown;
  std::thread apart;
  try {
    const all_signals_blocked meanwhile;  // the thread inherits that
    apart = std::thread([&] {
      const room_in_heap room;
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
  } catch (const std::system_error&) {  // no further thread
  }
  if (apart.joinable()) apart.join();
  else work();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace adaptyst::lib
