// Tasks that have begun and not ended. They are kept without an attached tool as well, so that a collector that starts
// later does not count their ends as unmatched.
#ifndef ADAPTYST_ADAPTERS_ITT_OPEN_TASKS_HPP
#define ADAPTYST_ADAPTERS_ITT_OPEN_TASKS_HPP

#include <sched.h>

#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/region.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "static_part.hpp"

namespace adaptyst::itt {

// Each static part may have its own object for a domain.
inline bool is_same(const domain* left, const domain* right) noexcept {
  return left == right || (left != nullptr && right != nullptr && left->name != nullptr && right->name != nullptr &&
                           std::strcmp(left->name, right->name) == 0);
}

// The tasks of a thread. An end belongs to the last task of its domain. If tasks of two domains do not nest, the inner
// region is abandoned, and its end has no effect.
class thread_tasks {
 public:
  // A task that is nested too deep is counted as lost.
  void push(const domain* of, callback_region begun) noexcept {
    if (depth_ < max_depth) open_[depth_] = {of, begun};
    else begun.abandon();
    ++depth_;
  }

  void pop(const domain* of) noexcept {
    if (depth_ > max_depth) return static_cast<void>(--depth_);
    std::size_t at = depth_;
    while (at != 0 && !is_same(open_[at - 1].of, of)) --at;
    if (at == 0) return callback_region::count_unmatched_end();
    open_[at - 1].region.end();
    for (; at != depth_; ++at) open_[at - 1] = {open_[at].of, {}};
    --depth_;
  }

 private:
  struct task {
    const domain* of = nullptr;
    callback_region region;
  };
  static constexpr std::size_t max_depth = 256;
  task open_[max_depth]{};
  std::size_t depth_ = 0;
};

// Tasks that any thread may end: by an id that the program has chosen. Several open tasks may have the same id, as in
// oneTBB's flow graphs: an end belongs to the last of them.
class tasks_by_id {
 public:
  enum class kind { task, region, frame };
  struct key {
    kind as;
    const domain* of;
    id number;
  };

  // ITT ignores the begin of a frame that is open. Without room, the end is counted as unmatched.
  template <class Begin>
  void begin(const key& with, Begin&& begin) noexcept {
    if (!lock()) return;
    std::uint32_t& first = find_list(with);
    if (with.as != kind::frame || *find(first, with) == none)
      if (const std::uint32_t at = take(); at != none) {
        open_[at] = {with, begin(), first};
        first = at;
      }
    busy_.unlock();
  }

  void end(const key& with) noexcept {
    if (!lock()) return callback_region::count_unmatched_end();
    region_handle ended;
    std::uint32_t* const link = find(find_list(with), with);
    const std::uint32_t at = *link;
    if (at != none) {
      ended = std::move(open_[at].region);
      *link = open_[at].next;
      open_[at].next = free_;
      free_ = at;
    }
    busy_.unlock();
    if (at != none) ended.end();
    else callback_region::count_unmatched_end();
  }

 private:
  struct task {
    key with{};
    region_handle region;
    std::uint32_t next = none;  // in its list, or in that of free entries
  };
  static constexpr std::uint32_t max_open = 4096;
  static constexpr std::uint32_t lists = 1024;
  static constexpr std::uint32_t none = 0;  // this entry is not used
  static constexpr int max_tries = 10'000;  // some milliseconds

  // A child that was forked while another thread held the lock must not wait forever.
  bool lock() noexcept {
    for (int tries = 0; tries != max_tries; ++tries) {
      if (busy_.try_lock()) return true;
      sched_yield();
    }
    return false;
  }

  std::uint32_t& find_list(const key& with) noexcept {
    std::uint64_t mixed = 0;
    for (const unsigned long long word : with.number.words) mixed = detail::mix(mixed ^ word);
    return first_[mixed % lists];
  }

  // The link to the entry; a link to none if there is no such entry.
  std::uint32_t* find(std::uint32_t& first, const key& with) noexcept {
    std::uint32_t* link = &first;
    for (; *link != none; link = &open_[*link].next) {
      const key& there = open_[*link].with;
      if (there.as == with.as && std::memcmp(&there.number, &with.number, sizeof with.number) == 0 &&
          is_same(there.of, with.of))
        break;
    }
    return link;
  }

  std::uint32_t take() noexcept {
    if (free_ != none) return std::exchange(free_, open_[free_].next);
    return used_ != max_open ? ++used_ : none;
  }

  std::mutex busy_;
  task open_[max_open + 1]{};
  std::uint32_t first_[lists]{};
  std::uint32_t free_ = none;
  std::uint32_t used_ = 0;
};

}  // namespace adaptyst::itt

#endif
