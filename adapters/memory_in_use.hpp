// Number of allocated bytes in memory spaces. Counted also without an attached tool, since a collector that starts later
// needs the numbers. The metrics are those of lib/model/memory_spaces.hpp.
#ifndef ADAPTYST_ADAPTERS_MEMORY_IN_USE_HPP
#define ADAPTYST_ADAPTERS_MEMORY_IN_USE_HPP

#include <adaptyst/metric.hpp>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace adaptyst::adapters {

// May be used by any thread.
class memory_in_use {
 public:
  void allocate(std::string_view space, std::uint64_t bytes) noexcept {
    const bool is_observed = detail::is_enabled();
    const change now = change_by(space, static_cast<std::int64_t>(bytes), is_observed);
    if (!is_observed) return;
    record("bytes allocated in", space, bytes);
    if (now.already != 0) record("bytes already in use in", space, now.already);
    if (now.is_known) record("bytes in use in", space, now.bytes);
  }

  void free(std::string_view space, std::uint64_t bytes) noexcept {
    const bool is_observed = detail::is_enabled();
    const change now = change_by(space, -static_cast<std::int64_t>(bytes), is_observed);
    if (!is_observed) return;
    if (now.already != 0) record("bytes already in use in", space, now.already);
    if (now.is_known) record("bytes freed in", space, bytes);
  }

 private:
  struct change {
    bool is_known;        // false: no room for this space, or more was freed than allocated
    std::uint64_t bytes;  // in use afterwards
    // In use before, if this is the first change that a tool observes since it was attached.
    std::uint64_t already;
  };

  static void record(const char* what, std::string_view space, std::uint64_t bytes) noexcept {
    char name[96];
    std::snprintf(name, sizeof name, "%s %.*s", what, static_cast<int>(space.size() < 64 ? space.size() : 64),
                  space.data());
    ADAPTYST_METRIC(name, bytes);
  }

  // `by`: negative when memory is freed.
  change change_by(std::string_view space, std::int64_t by, bool is_observed) noexcept {
    while (busy_.test_and_set(std::memory_order_acquire)) {}
    change now{false, 0, 0};
    if (space_in_use* const found = find(space)) {
      const std::int64_t before = found->bytes;
      found->bytes += by;
      if (found->bytes < 0) found->bytes = 0;
      else now = {true, static_cast<std::uint64_t>(found->bytes), 0};
      if (!found->is_observed) now.already = static_cast<std::uint64_t>(before);
      found->is_observed = is_observed;
    }
    busy_.clear(std::memory_order_release);
    return now;
  }

  struct space_in_use {
    std::uint64_t name_bytes;
    char name[64];
    std::int64_t bytes;
    bool is_observed;
  };

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
};

}  // namespace adaptyst::adapters

#endif
