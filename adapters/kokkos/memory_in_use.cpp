#include "memory_in_use.hpp"

#include <atomic>
#include <cstring>

namespace adaptyst::kokkos {

namespace {

struct space_in_use {
  std::uint64_t name_bytes;
  char name[64];
  std::int64_t bytes;
};

constexpr unsigned most = 32;
space_in_use spaces[most];
unsigned used = 0;
std::atomic_flag busy = ATOMIC_FLAG_INIT;

space_in_use* find(std::string_view name) noexcept {
  for (unsigned at = 0; at != used; ++at)
    if (std::string_view{spaces[at].name, spaces[at].name_bytes} == name) return &spaces[at];
  if (used == most || name.size() > sizeof spaces->name) return nullptr;
  space_in_use& made = spaces[used++];
  std::memcpy(made.name, name.data(), name.size());
  made.name_bytes = name.size();
  return &made;
}

}  // namespace

change_of_memory change_memory_in_use(std::string_view name, std::int64_t by) noexcept {
  while (busy.test_and_set(std::memory_order_acquire)) {}
  change_of_memory now{false, 0};
  if (space_in_use* const found = find(name)) {
    found->bytes += by;
    if (found->bytes < 0) found->bytes = 0;
    else now = {true, static_cast<std::uint64_t>(found->bytes)};
  }
  busy.clear(std::memory_order_release);
  return now;
}

}  // namespace adaptyst::kokkos
