// Memory of devices: allocations and frees by functions of the driver, at the call, in the region of the caller. The
// runtime's functions call these. Counted only while a tool is attached. A call costs a callback of CUPTI, a lookup
// and two metrics.
#ifndef ADAPTYST_ADAPTERS_CUDA_MEMORY_HPP
#define ADAPTYST_ADAPTERS_CUDA_MEMORY_HPP

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "../memory_in_use.hpp"
#include "cupti_library.hpp"

namespace cuda_adapter {

enum class memory_call : std::uint8_t { none, allocate, allocate_pitch, allocate_managed, allocate_from_pool, free };

// The effect of a function of the driver, by its name.
memory_call find_memory_call(const char* function) noexcept;

// May be used by any thread. Calls CUPTI without a lock, and never the driver: a callback must not.
class device_memory {
 public:
  explicit device_memory(const cupti::library& in) noexcept : in_(in) {}

  void enter(memory_call what, const cupti::call& call) noexcept;
  void leave(memory_call what, const cupti::call& call) noexcept;

  // The open call of this thread adds a node to a graph: launches of the graph allocate or free, not this call.
  static void note_graph_node() noexcept;

  // Frees the memory of a context.
  void destroy(const void* context) noexcept;

  // Calls may have been missed: memory that is allocated now is no longer counted.
  void forget() noexcept;

  // At the end of the program, the driver destroys contexts with memory that the program did not free.
  void ignore_contexts() noexcept { ignores_contexts_.store(true, std::memory_order_relaxed); }

  // Later calls are not counted, and wait for no lock.
  void close() noexcept { is_closed_.store(true, std::memory_order_relaxed); }

  static constexpr std::size_t max_blocks = std::size_t{1} << 20;  // frees of others are unknown

 private:
  static constexpr unsigned unknown_device = 0, managed = 1, pools = 2, first_device = 3, max_spaces = 67;

  struct block {
    std::uint64_t bytes;
    const void* context;  // destroys the block with it; null: no context does
    unsigned space;
  };

  void leave_allocation(memory_call what, const cupti::call& call) noexcept;
  void leave_free(const cupti::call& call, bool is_done) noexcept;
  void add(std::uint64_t pointer, const block& made) noexcept;
  bool put(std::uint64_t pointer, const block& made, block& before) noexcept;
  bool take(std::uint64_t pointer, block& found) noexcept;
  unsigned find_device(const void* context) noexcept;

  const cupti::library& in_;
  adaptyst::adapters::memory_in_use in_use_;
  std::atomic<bool> is_closed_{false}, ignores_contexts_{false};
  std::mutex changing_;  // held for the table only
  std::unordered_map<std::uint64_t, block> blocks_;
};

}  // namespace cuda_adapter

#endif
