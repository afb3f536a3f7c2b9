// A cache of names that are expensive to make: each is made once, when it is first needed. Other values are kept in the
// same way.
//
//   static name_cache names;
//   const char* const name = names.find(key, [](auto& text) { write_code_name(text, "loop", code); });
//
// A name in the cache is found without a lock. The cache has room for `max_names` names, 1,000 by default; find()
// returns null for further ones. If a child is forked while another thread makes a name, the lock stays locked in the
// child: find() returns null for all new names there.
#ifndef ADAPTYST_ADAPTERS_NAME_CACHE_HPP
#define ADAPTYST_ADAPTERS_NAME_CACHE_HPP

#include <sched.h>

#include <adaptyst/region.hpp>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "thread_state.hpp"

namespace adaptyst::adapters {

// The addresses of values stay valid. `slots_log2`: two slots for each value or more.
template <class Value, unsigned max_values = 1000, unsigned slots_log2 = 11>
class known_values {
 public:
  // `key`: not 0. `write` is called with the lock held. Null: no room, or the lock could not be taken in time.
  template <class Write>
  Value* find(std::uint64_t key, Write&& write) noexcept {
    const std::uint64_t first = (key * 0x9E3779B97F4A7C15U) >> (64 - slots_log2);  // a hash: one of the slots
    for (std::uint64_t at = first;; ++at) {
      const std::uint64_t there = entries_[at % slots].key.load(std::memory_order_acquire);
      if (there == key) return &entries_[at % slots].value;
      if (there == 0) break;
    }
    const thread_state_kept unchanged;  // `write` may read files, and a cancelled thread would keep the lock
    for (int tries = 0; busy_.test_and_set(std::memory_order_acquire); ++tries) {
      if (tries == max_tries) return nullptr;
      sched_yield();
    }
    Value* value = nullptr;
    for (std::uint64_t at = first;; ++at) {
      known_value& slot = entries_[at % slots];
      const std::uint64_t there = slot.key.load(std::memory_order_relaxed);
      if (there == 0) {
        if (used_ == max_values) break;
        ++used_;
        write(slot.value);
        slot.key.store(key, std::memory_order_release);
      }
      if (there == 0 || there == key) {
        value = &slot.value;
        break;
      }
    }
    busy_.clear(std::memory_order_release);
    return value;
  }

  // True if find() has returned this pointer. Any pointer may be passed: it is not read.
  bool contains(const void* value) const noexcept {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(value) - reinterpret_cast<std::uintptr_t>(&entries_[0].value);
    return offset < sizeof entries_ && offset % sizeof(known_value) == 0 &&
           entries_[offset / sizeof(known_value)].key.load(std::memory_order_acquire) != 0;
  }

 private:
  static constexpr unsigned slots = 1U << slots_log2;
  static_assert(slots >= 2 * max_values);
  static constexpr int max_tries = 10'000;  // some milliseconds

  struct known_value {
    std::atomic<std::uint64_t> key;  // 0: free; written last
    Value value;
  };
  known_value entries_[slots]{};
  unsigned used_ = 0;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

template <unsigned max_names, unsigned slots_log2>
class bounded_name_cache {
 public:
  using text = char[128];

  template <class Write>
  const char* find(std::uint64_t key, Write&& write) noexcept {
    const text* const name = names_.find(key, write);
    return name != nullptr ? *name : nullptr;
  }
  bool contains(const void* name) const noexcept { return names_.contains(name); }

 private:
  known_values<text, max_names, slots_log2> names_;
};

using name_cache = bounded_name_cache<1000, 11>;

// Names have at most 127 bytes. Instances of a template may differ anywhere in longer names: both ends are kept, and
// between them a hash of the name, which almost always differs.
inline void write_shortened(char (&text)[128], std::string_view name) noexcept {
  constexpr std::size_t beginning = 72, end = 40;
  if (name.size() < sizeof text) {
    std::memcpy(text, name.data(), name.size());
    text[name.size()] = '\0';
    return;
  }
  const auto hash = static_cast<unsigned>(detail::hash(0, {name.data(), name.size()}));
  std::snprintf(text, sizeof text, "%.*s...#%08x...%.*s", static_cast<int>(beginning), name.data(), hash,
                static_cast<int>(end), name.data() + name.size() - end);
}

}  // namespace adaptyst::adapters

#endif
