// How many bytes are allocated in each of Kokkos's memory spaces: kept whether anybody looks or not, since whoever comes
// later wants to know as well.
#ifndef ADAPTYST_ADAPTERS_KOKKOS_MEMORY_IN_USE_HPP
#define ADAPTYST_ADAPTERS_KOKKOS_MEMORY_IN_USE_HPP

#include <cstdint>
#include <string_view>

namespace adaptyst::kokkos {

struct change_of_memory {
  bool known;           // false: there are more spaces than we keep, or more was freed than allocated
  std::uint64_t bytes;  // in use afterwards
};

// `by`: negative when freed. Any thread.
change_of_memory change_memory_in_use(std::string_view space, std::int64_t by) noexcept;

}  // namespace adaptyst::kokkos

#endif
