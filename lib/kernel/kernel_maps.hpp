// Walks through the maps of BPF programs.
#ifndef ADAPTYST_LIB_KERNEL_KERNEL_MAPS_HPP
#define ADAPTYST_LIB_KERNEL_KERNEL_MAPS_HPP

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../support/error.hpp"

namespace adaptyst::lib {

// The number of processors with values in a per-CPU map.
inline std::size_t possible_cpus() {
  const int possible = libbpf_num_possible_cpus();
  if (possible < 1)
    throw error("cannot count the processors in /sys/devices/system/cpu/possible", -possible, "mount /sys");
  return static_cast<std::size_t>(possible);
}

// Calls visit(key, parts) for every entry of a hash map; a per-CPU map has a part for each processor, other maps have
// one. An entry that exists all the time is visited exactly once. Many entries are read at a time: a system call for
// each would take longer than all else. Throws error.
template <class Key, class Part, class Visit>
void for_each_entry(const bpf_map* map, Visit&& visit) {
  constexpr int patience = 100;
  const bool is_per_cpu = bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_HASH;
  const std::size_t parts = is_per_cpu ? possible_cpus() : 1;
  // A larger buffer would take more time for its pages than it saves in system calls.
  constexpr std::size_t buffer_bytes = 65536;
  std::size_t room = std::min<std::size_t>(bpf_map__max_entries(map), 1024);
  room = std::min(room, std::max<std::size_t>(buffer_bytes / (sizeof(Key) + parts * sizeof(Part)), 32));
  std::vector<Key> keys(room);
  std::vector<Part> values(room * parts);
  std::uint32_t from = 0;
  std::uint32_t next = 0;
  int interrupted = 0;
  for (bool is_first = true;;) {
    auto count = static_cast<std::uint32_t>(room);
    const int failed = -bpf_map_lookup_batch(bpf_map__fd(map), is_first ? nullptr : &from, &next, keys.data(),
                                             values.data(), &count, nullptr);
    if (failed == ENOSPC) {  // a bucket of the table has more entries than there is room for
      room *= 2;
      keys.resize(room);
      values.resize(room * parts);
      continue;
    }
    // Another CPU has locked a part of the table.
    if ((failed == EBUSY || failed == EDEADLK || failed == ETIMEDOUT || failed == EINTR) && ++interrupted != patience)
      continue;
    if (failed != 0 && failed != ENOENT)
      throw error("cannot read the counts of the eBPF programs", failed, "engine=inline works without eBPF");
    for (std::size_t at = 0; at != count; ++at) visit(keys[at], static_cast<const Part*>(&values[at * parts]));
    if (failed == ENOENT) return;
    from = next;
    is_first = false;
  }
}

}  // namespace adaptyst::lib

#endif
