// A table of allocated blocks, by address, of a fixed size. No locks: it works in signal handlers and in children that
// were forked while another thread changed it.
//
// A place is taken by compare-and-exchange of its address, and its content is stored afterwards. A free of the
// block, or a put() of the same address after a free that was not seen, reads the content; a correct program orders
// both after the allocation.
#ifndef ADAPTYST_ADAPTERS_HEAP_TRACKED_BLOCKS_HPP
#define ADAPTYST_ADAPTERS_HEAP_TRACKED_BLOCKS_HPP

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace adaptyst::heap {

// `bytes`: not 0.
struct tracked_block {
  std::uint64_t bytes = 0, epoch = 0, calls = 0;
  const void* path = nullptr;
};

class tracked_blocks {
 public:
  // Maps the memory; only touched pages take memory. False: there is none.
  bool make(unsigned places_log2) noexcept {
    if (groups_.load(std::memory_order_acquire) != nullptr) return true;
    const std::size_t bytes = (std::size_t{1} << places_log2) / places_in_group * sizeof(group);
    void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return false;
    groups_log2_.store(places_log2 - 4, std::memory_order_relaxed);
    group* none = nullptr;
    if (!groups_.compare_exchange_strong(none, static_cast<group*>(made))) munmap(made, bytes);
    return true;
  }

  bool is_made() const noexcept { return groups_.load(std::memory_order_acquire) != nullptr; }

  // False: certainly not in the table. Costs one read of a small array.
  bool may_have(const void* block) const noexcept {
    return filter_[filter_place(block)].load(std::memory_order_relaxed) != 0;
  }

  enum class result { added, replaced, is_full };

  // replaced: a block with this address was in the table, and was freed unseen; `before` is its content.
  result put(const void* block, const tracked_block& content, tracked_block& before) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    group* emptiest = nullptr;
    unsigned most = 0;
    for (unsigned probe = 0; probe != probed_groups; ++probe) {
      group* const in = find_group(block, probe);
      if (in == nullptr) return result::is_full;
      unsigned empty = 0;
      for (unsigned at = 0; at != places_in_group; ++at) {
        const std::uintptr_t found = in->addresses[at].load(std::memory_order_relaxed);
        if (found == address) {
          before = in->contents[at];
          in->contents[at] = content;
          return result::replaced;
        }
        empty += found == 0 ? 1 : 0;
      }
      if (empty <= most) continue;
      most = empty;
      emptiest = in;
    }
    if (emptiest != nullptr && add(*emptiest, block, content)) return result::added;
    for (unsigned probe = 0; probe != probed_groups; ++probe)  // other threads have filled it
      if (add(*find_group(block, probe), block, content)) return result::added;
    return result::is_full;
  }

  // Removes a block, and reads its content. False: it is not in the table.
  bool take(const void* block, tracked_block& content) noexcept {
    if (block == nullptr) return false;  // an empty place has the address null
    for (unsigned probe = 0; probe != probed_groups; ++probe) {
      group* const in = find_group(block, probe);
      if (in == nullptr) return false;
      for (unsigned at = 0; at != places_in_group; ++at) {
        auto address = reinterpret_cast<std::uintptr_t>(block);
        if (in->addresses[at].load(std::memory_order_acquire) != address) continue;
        content = in->contents[at];
        if (!in->addresses[at].compare_exchange_strong(address, 0, std::memory_order_acq_rel)) continue;
        change_filter(block, -1);
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr unsigned places_in_group = 16;
  static constexpr unsigned probed_groups = 4;  // neighbours; a block enters the emptiest
  struct group {
    std::atomic<std::uintptr_t> addresses[places_in_group];  // two cache lines
    tracked_block contents[places_in_group];
  };
  static constexpr unsigned filter_log2 = 16;

  static std::uint64_t hash(const void* block) noexcept {
    return (reinterpret_cast<std::uintptr_t>(block) >> 4) * 0x9E3779B97F4A7C15U;
  }
  // Neighbouring blocks have neighbouring counts: a program that uses few pages touches few cache lines here.
  static std::size_t filter_place(const void* block) noexcept {
    return (reinterpret_cast<std::uintptr_t>(block) >> 8) % (std::size_t{1} << filter_log2);
  }

  group* find_group(const void* block, unsigned probe) noexcept {
    group* const all = groups_.load(std::memory_order_acquire);
    if (all == nullptr) return nullptr;
    const unsigned log2 = groups_log2_.load(std::memory_order_relaxed);
    return all + (((hash(block) >> (64 - log2)) + probe) & ((std::uint64_t{1} << log2) - 1));
  }

  bool add(group& in, const void* block, const tracked_block& content) noexcept {
    for (unsigned at = 0; at != places_in_group; ++at) {
      std::uintptr_t none = 0;
      if (in.addresses[at].load(std::memory_order_relaxed) != 0 ||
          !in.addresses[at].compare_exchange_strong(none, reinterpret_cast<std::uintptr_t>(block),
                                                    std::memory_order_acq_rel))
        continue;
      in.contents[at] = content;
      change_filter(block, 1);
      return true;
    }
    return false;
  }

  // The number of blocks of each place. A number that has reached its limit no longer changes, and no longer filters.
  void change_filter(const void* block, int by) noexcept {
    std::atomic<std::uint16_t>& count = filter_[filter_place(block)];
    std::uint16_t now = count.load(std::memory_order_relaxed);
    while (now != UINT16_MAX && !count.compare_exchange_weak(now, static_cast<std::uint16_t>(now + by))) {}
  }

  std::atomic<group*> groups_{nullptr};
  std::atomic<unsigned> groups_log2_{0};
  std::atomic<std::uint16_t> filter_[std::size_t{1} << filter_log2]{};
};

}  // namespace adaptyst::heap

#endif
