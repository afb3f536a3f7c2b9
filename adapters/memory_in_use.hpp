// Number of allocated bytes in memory spaces. Counted also without an attached tool, since a collector that starts later
// needs the numbers. The metrics are those of lib/model/memory_spaces.hpp.
#ifndef ADAPTYST_ADAPTERS_MEMORY_IN_USE_HPP
#define ADAPTYST_ADAPTERS_MEMORY_IN_USE_HPP

#include <sched.h>

#include <adaptyst/metric.hpp>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace adaptyst::adapters {

// May be used by any thread. If a child is forked while another thread changes a number, the lock stays locked in the
// child: there, all changes are unknown.
class memory_in_use {
 public:
  void allocate(std::string_view space, std::uint64_t bytes) noexcept {
    const change now = make_change(space, bytes, way::allocated);
    if (now.epoch == 0) return;
    record("bytes allocated in", space, bytes);
    if (now.has_bytes) record("bytes in use in", space, now.bytes);
    finish(now, space);
  }

  void free(std::string_view space, std::uint64_t bytes) noexcept {
    const change now = make_change(space, bytes, way::freed);
    if (now.epoch == 0) return;
    record("bytes freed in", space, bytes);
    finish(now, space);
  }

  // Memory with an unknown size, or with a free that cannot be observed.
  void add_unknown(std::string_view space) noexcept {
    const change now = make_change(space, 0, way::unknown);
    if (now.epoch != 0) finish(now, space);
  }

  // Changes may have been missed: only memory that is allocated later is counted.
  void forget() noexcept {
    missed_.store(true, std::memory_order_relaxed);
    if (!lock()) return;
    for (unsigned at = 0; at != used_; ++at) spaces_[at].bytes = 0;
    busy_.clear(std::memory_order_release);
  }

 private:
  enum class way { allocated, freed, unknown };

  struct change {
    std::uint64_t epoch = 0;    // in which the change is recorded; 0: not observed
    bool has_bytes = false;     // false: the space has no number
    bool is_uncertain = false;  // the bytes in use may be wrong, which was not recorded in this epoch
    std::uint64_t bytes = 0;    // in use after the change
    std::uint64_t already = 0;  // in use before the first change of the epoch
  };

  struct space_in_use {
    std::uint64_t name_bytes;
    char name[64];
    std::uint64_t bytes;
    std::uint64_t epoch;   // of the last recorded change
    bool has_gap;          // a later change was not recorded
    bool has_wrong_bytes;  // until the process ends
    bool is_reported;      // has_wrong_bytes, in this epoch
  };

  static void record(const char* what, std::string_view space, std::uint64_t bytes) noexcept {
    char name[96];
    std::snprintf(name, sizeof name, "%s %.*s", what, static_cast<int>(space.size() < 64 ? space.size() : 64),
                  space.data());
    ADAPTYST_METRIC(name, bytes);
  }

  void finish(const change& now, std::string_view space) noexcept {
    if (now.already != 0) record("bytes already in use in", space, now.already);
    if (now.is_uncertain) record("unknown changes in", space, 1);
    // A new collector may have got a part of this change.
    const std::uint64_t after = find_epoch(detail::is_enabled() ? detail::open_recorder() : nullptr);
    if (after != 0 && after != now.epoch) missed_.store(true, std::memory_order_relaxed);
  }

  // Each observation has another epoch, also in a forked child.
  static std::uint64_t find_epoch(const detail::recorder* recorder) noexcept {
    return recorder != nullptr && detail::is_enabled() ? detail::load(recorder->owner->control.epoch) : 0;
  }

  bool try_lock() noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return false;
    is_stuck_.store(false, std::memory_order_relaxed);
    return true;
  }

  bool lock() noexcept {
    constexpr std::uint64_t max_wait_ns = 1'000'000'000;  // once, if the lock stays locked
    if (try_lock()) return true;
    if (is_stuck_.load(std::memory_order_relaxed)) return false;
    const std::uint64_t begin_ns = detail::monotonic_ns();
    do {
      sched_yield();
      if (try_lock()) return true;
    } while (detail::monotonic_ns() - begin_ns < max_wait_ns);
    is_stuck_.store(true, std::memory_order_relaxed);
    return false;
  }

  change make_change(std::string_view space, std::uint64_t bytes, way by) noexcept {
    // Before the lock: it takes long if it is the first call of a thread.
    const detail::recorder* const recorder = detail::is_enabled() ? detail::open_recorder() : nullptr;
    change now;
    if (!lock()) {
      missed_.store(true, std::memory_order_relaxed);
      now.epoch = find_epoch(recorder);
      now.is_uncertain = true;
      return now;
    }
    // With the lock: threads agree which change is the first of the epoch.
    now.epoch = find_epoch(recorder);
    if (space_in_use* const found = find(space)) apply(*found, bytes, by, now);
    else now.is_uncertain = true;
    busy_.clear(std::memory_order_release);
    return now;
  }

  void apply(space_in_use& in, std::uint64_t bytes, way by, change& now) noexcept {
    constexpr std::uint64_t max_bytes = std::uint64_t{1} << 53;  // exact as a metric
    const std::uint64_t before = in.bytes;
    if (by == way::allocated) {
      in.has_wrong_bytes = in.has_wrong_bytes || bytes > max_bytes - before;
      in.bytes = bytes > max_bytes - before ? max_bytes : before + bytes;
    } else if (by == way::freed) {
      in.has_wrong_bytes = in.has_wrong_bytes || bytes > before;
      in.bytes = bytes > before ? 0 : before - bytes;
    } else {
      in.has_wrong_bytes = true;
    }
    if (now.epoch == 0) {
      in.has_gap = true;
      return;
    }
    if (now.epoch != in.epoch) {
      in.epoch = now.epoch;
      in.is_reported = false;
      now.already = before;
    } else if (in.has_gap) {
      in.has_wrong_bytes = true;
    }
    in.has_gap = false;
    now.has_bytes = true;
    now.bytes = in.bytes;
    const bool is_wrong = in.has_wrong_bytes || missed_.load(std::memory_order_relaxed);
    now.is_uncertain = is_wrong && !in.is_reported;
    in.is_reported = is_wrong;
  }

  space_in_use* find(std::string_view name) noexcept {
    for (unsigned at = 0; at != used_; ++at)
      if (std::string_view{spaces_[at].name, spaces_[at].name_bytes} == name) return &spaces_[at];
    if (used_ == max_spaces || name.size() > sizeof spaces_->name) return nullptr;
    space_in_use& made = spaces_[used_++];
    std::memcpy(made.name, name.data(), name.size());
    made.name_bytes = name.size();
    return &made;
  }

  static constexpr unsigned max_spaces = 32;
  space_in_use spaces_[max_spaces]{};
  unsigned used_ = 0;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> is_stuck_{false};  // since a wait for the lock was too long, no thread has got it
  std::atomic<bool> missed_{false};    // a change is not in the numbers
};

}  // namespace adaptyst::adapters

#endif
