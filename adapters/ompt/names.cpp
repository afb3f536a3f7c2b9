#include "names.hpp"

#include <adaptyst/adapter/demangle.hpp>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

void write_name(char (&to)[128], const char* kind, const void* code) noexcept {
  Dl_info found{};
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  if (dladdr(code, &found) == 0 || found.dli_fname == nullptr) {
    std::snprintf(to, sizeof to, "%s", kind);
  } else if (found.dli_sname != nullptr) {
    const auto text = demangled(found.dli_sname);
    std::snprintf(to, sizeof to, "%s %.90s+0x%zx", kind, text ? text.get() : found.dli_sname,
                  static_cast<std::size_t>(address - reinterpret_cast<std::uintptr_t>(found.dli_saddr)));
  } else {
    const char* const slash = std::strrchr(found.dli_fname, '/');
    std::snprintf(to, sizeof to, "%s %.90s+0x%zx", kind, slash != nullptr ? slash + 1 : found.dli_fname,
                  static_cast<std::size_t>(address - reinterpret_cast<std::uintptr_t>(found.dli_fbase)));
  }
}

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
      write_name(slot.text, kind, code);
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
