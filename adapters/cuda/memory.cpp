// Counts memory of devices by CUPTI's callbacks on functions of the driver.
//
// A free removes the block from the table when it is entered: when it is left, another thread may already have got the
// same address. If the free fails, the block is put back.
#include "memory.hpp"

#include <cstdio>
#include <new>
#include <string_view>

namespace cuda_adapter {
namespace {

struct open_memory_call {
  bool has_block;  // a free has removed it
  bool is_in_graph;
  std::uint64_t pointer;
  std::uint64_t bytes;
  const void* context;
  unsigned space;
};
thread_local open_memory_call current{};

struct space_name {
  char text[32];
  explicit space_name(unsigned space, unsigned first_device) noexcept {
    static constexpr const char* others[] = {"CUDA", "CUDA, managed", "CUDA, memory pools"};
    if (space < first_device) std::snprintf(text, sizeof text, "%s", others[space]);
    else std::snprintf(text, sizeof text, "CUDA, device %u", space - first_device);
  }
};

bool has_failed(const cupti::call& call) noexcept { return *static_cast<const int*>(call.returned) != 0; }

}  // namespace

// Not the functions of CUDA 3.1 without _v2, which have parameters of 32 bits.
memory_call find_memory_call(const char* function) noexcept {
  static constexpr struct {
    std::string_view name;
    memory_call effect;
  } all[] = {
      {"cuMemAlloc_v2", memory_call::allocate},
      {"cuMemAllocPitch_v2", memory_call::allocate_pitch},
      {"cuMemAllocManaged", memory_call::allocate_managed},
      {"cuMemAllocAsync", memory_call::allocate_from_pool},
      {"cuMemAllocAsync_ptsz", memory_call::allocate_from_pool},
      {"cuMemAllocFromPoolAsync", memory_call::allocate_from_pool},
      {"cuMemAllocFromPoolAsync_ptsz", memory_call::allocate_from_pool},
      {"cuMemFree_v2", memory_call::free},
      {"cuMemFreeAsync", memory_call::free},
      {"cuMemFreeAsync_ptsz", memory_call::free},
  };
  for (const auto& any : all)
    if (any.name == function) return any.effect;
  return memory_call::none;
}

void device_memory::enter(memory_call what, const cupti::call& call) noexcept {
  current = {};
  if (what != memory_call::free || is_closed_.load(std::memory_order_relaxed)) return;
  block found{};
  current.pointer = static_cast<const cupti::free_parameters*>(call.parameters)->pointer;
  current.has_block = take(current.pointer, found);
  current.bytes = found.bytes;
  current.context = found.context;
  current.space = found.space;
}

void device_memory::leave(memory_call what, const cupti::call& call) noexcept {
  const bool is_done = !has_failed(call) && !current.is_in_graph;
  if (what == memory_call::free) leave_free(call, is_done);
  else if (is_done && !is_closed_.load(std::memory_order_relaxed)) leave_allocation(what, call);
  current = {};
}

void device_memory::leave_allocation(memory_call what, const cupti::call& call) noexcept {
  const auto& normal = *static_cast<const cupti::allocate_parameters*>(call.parameters);
  block made{normal.bytes, call.context, unknown_device};
  if (what == memory_call::allocate_pitch) {
    const auto& pitched = *static_cast<const cupti::allocate_pitch_parameters*>(call.parameters);
    made.bytes = *pitched.pitch * pitched.height;
  }
  // A context does not free memory of pools. cuMemAllocAsync() takes the pool of the stream's device, not the context's.
  if (what == memory_call::allocate_from_pool) made.context = nullptr;
  if (what == memory_call::allocate_managed) made.space = managed;
  else if (what == memory_call::allocate_from_pool) made.space = pools;
  else made.space = find_device(call.context);
  add(*normal.pointer, made);
}

void device_memory::leave_free(const cupti::call& call, bool is_done) noexcept {
  const std::uint64_t pointer = static_cast<const cupti::free_parameters*>(call.parameters)->pointer;
  const block freed{current.bytes, current.context, current.space};
  // Else, this call began before a tool attached, and the other free ended after a tool detached.
  const bool has_block = current.has_block && current.pointer == pointer;
  if (is_closed_.load(std::memory_order_relaxed)) return;
  if (!is_done) {
    block before;
    if (has_block && !put(pointer, freed, before)) in_use_.add_unknown(space_name(freed.space, first_device).text);
  } else if (has_block) {
    in_use_.free(space_name(freed.space, first_device).text, freed.bytes);
  } else if (pointer != 0) {
    in_use_.add_unknown(space_name(find_device(call.context), first_device).text);
  }
}

void device_memory::note_graph_node() noexcept { current.is_in_graph = true; }

void device_memory::destroy(const void* context) noexcept {
  const bool is_ignored =
      is_closed_.load(std::memory_order_relaxed) || ignores_contexts_.load(std::memory_order_relaxed);
  if (context == nullptr || is_ignored) return;
  std::uint64_t freed[max_spaces]{};
  {
    const std::lock_guard<std::mutex> changing(changing_);
    for (auto at = blocks_.begin(); at != blocks_.end();) {
      if (at->second.context != context) {
        ++at;
        continue;
      }
      freed[at->second.space] += at->second.bytes;
      at = blocks_.erase(at);
    }
  }
  for (unsigned space = 0; space != max_spaces; ++space)
    if (freed[space] != 0) in_use_.free(space_name(space, first_device).text, freed[space]);
}

void device_memory::forget() noexcept {
  const std::lock_guard<std::mutex> changing(changing_);
  blocks_.clear();
  in_use_.forget();
}

void device_memory::add(std::uint64_t pointer, const block& made) noexcept {
  block before{};
  const bool is_kept = put(pointer, made, before);
  const space_name name(made.space, first_device);
  if (before.bytes != 0) in_use_.add_unknown(space_name(before.space, first_device).text);  // freed unseen
  in_use_.allocate(name.text, made.bytes);
  if (!is_kept) in_use_.add_unknown(name.text);
}

// False: there is no room. `before` is the block that had this address.
bool device_memory::put(std::uint64_t pointer, const block& made, block& before) noexcept {
  const std::lock_guard<std::mutex> changing(changing_);
  try {
    if (const auto at = blocks_.find(pointer); at != blocks_.end()) {
      before = at->second;
      at->second = made;
      return true;
    }
    return blocks_.size() < max_blocks && blocks_.try_emplace(pointer, made).second;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool device_memory::take(std::uint64_t pointer, block& found) noexcept {
  const std::lock_guard<std::mutex> changing(changing_);
  const auto at = blocks_.find(pointer);
  if (at == blocks_.end()) return false;
  found = at->second;
  blocks_.erase(at);
  return true;
}

unsigned device_memory::find_device(const void* context) noexcept {
  std::uint32_t number = 0;
  if (context == nullptr || in_.get_device_id(context, &number) != cupti::success) return unknown_device;
  return number < max_spaces - first_device ? first_device + number : unknown_device;
}

}  // namespace cuda_adapter
