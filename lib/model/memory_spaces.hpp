// Memory of devices and other memory spaces, from the metrics of adapters.
#ifndef ADAPTYST_LIB_MODEL_MEMORY_SPACES_HPP
#define ADAPTYST_LIB_MODEL_MEMORY_SPACES_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst::lib {

// A memory space NAME. Adapters record it as metrics: "bytes allocated in NAME" and "bytes freed in NAME" for each
// call, "bytes in use in NAME" at each allocation, "bytes already in use in NAME" if they are observed later, and
// "unknown changes in NAME" if a count may be wrong.
struct memory_space {
  std::string name;
  std::uint64_t allocated_bytes = 0, freed_bytes = 0;  // while observed
  std::optional<std::uint64_t> live_bytes{};           // of all processes, at the end; absent: unknown
  std::uint64_t high_water_bytes = 0;                  // of one process
  std::uint64_t high_water_region = 0;                 // id of the region or metric in which it was reached
  bool has_unknown_changes = false;                    // the high-water mark is an estimate
};

// At least 1.
std::uint64_t count_processes(const profile& in);

// By name. Spaces without an observed allocation are omitted.
std::vector<memory_space> list_memory_spaces(const profile& in);

}  // namespace adaptyst::lib

#endif
