// Number of allocated bytes in each of Kokkos's memory spaces. Counted also without an attached tool, since a collector
// that starts later needs the numbers.
#ifndef ADAPTYST_ADAPTERS_KOKKOS_MEMORY_IN_USE_HPP
#define ADAPTYST_ADAPTERS_KOKKOS_MEMORY_IN_USE_HPP

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace adaptyst::kokkos {

// May be used by any thread.
class memory_in_use {
 public:
  struct change {
    bool is_known;        // false: no room for this space, or more was freed than allocated
    std::uint64_t bytes;  // in use afterwards
  };

  // `by`: negative when memory is freed.
  change change_by(std::string_view space, std::int64_t by) noexcept {
    while (busy_.test_and_set(std::memory_order_acquire)) {}
    change now{false, 0};
    if (space_in_use* const found = find(space)) {
      found->bytes += by;
      if (found->bytes < 0) found->bytes = 0;
      else now = {true, static_cast<std::uint64_t>(found->bytes)};
    }
    busy_.clear(std::memory_order_release);
    return now;
  }

 private:
  struct space_in_use {
    std::uint64_t name_bytes;
    char name[64];
    std::int64_t bytes;
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

}  // namespace adaptyst::kokkos

#endif
