#include "names.hpp"

#include <adaptyst/adapter/code_name.hpp>
#include <atomic>

namespace adaptyst::ompt {

namespace {

constexpr const char* kinds[] = {"parallel",         "teams",         "loop",
                                 "sections",         "target",        "target enter data",
                                 "target exit data", "target update", "kernel"};

struct known_name {
  std::atomic<std::uint64_t> key;  // 0: free; written last
  char text[128];
};

constexpr unsigned slots = 2048;
constexpr unsigned most = 1000;
known_name known[slots];
unsigned used = 0;
std::atomic_flag busy = ATOMIC_FLAG_INIT;

}  // namespace

std::string_view name_of(construct what, const void* code) noexcept {
  const char* const kind = kinds[static_cast<std::uint32_t>(what)];
  if (code == nullptr) return kind;
  // Addresses have 47 bits.
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(code) | ((static_cast<std::uint64_t>(what) + 1) << 56);
  const std::uint64_t first = (key * 0x9E3779B97F4A7C15U) >> 53;
  for (std::uint64_t at = first;; ++at) {
    const std::uint64_t there = known[at % slots].key.load(std::memory_order_acquire);
    if (there == key) return known[at % slots].text;
    if (there == 0) break;
  }
  while (busy.test_and_set(std::memory_order_acquire)) {}
  std::string_view name = kind;
  for (std::uint64_t at = first;; ++at) {
    known_name& slot = known[at % slots];
    const std::uint64_t there = slot.key.load(std::memory_order_relaxed);
    if (there == 0) {
      if (used == most) break;
      ++used;
      write_code_name(slot.text, kind, code);
      slot.key.store(key, std::memory_order_release);
    }
    if (there == 0 || there == key) {
      name = slot.text;
      break;
    }
  }
  busy.clear(std::memory_order_release);
  return name;
}

}  // namespace adaptyst::ompt
