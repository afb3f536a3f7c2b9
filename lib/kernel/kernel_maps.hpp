// Walks through the maps of BPF programs.
#ifndef ADAPTYST_LIB_KERNEL_KERNEL_MAPS_HPP
#define ADAPTYST_LIB_KERNEL_KERNEL_MAPS_HPP

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cstddef>
#include <vector>

#include "../support/error.hpp"

namespace adaptyst::lib {

// How many processors a per-CPU map has values for.
inline std::size_t possible_processors() {
  const int possible = libbpf_num_possible_cpus();
  if (possible < 1)
    throw error("cannot count the processors in /sys/devices/system/cpu/possible", -possible, "mount /sys");
  return static_cast<std::size_t>(possible);
}

template <class Key, class Visit>
void for_each_key(const bpf_map* map, Visit&& visit) {
  const int descriptor = bpf_map__fd(map);
  Key key{};
  Key next{};
  for (const Key* from = nullptr; bpf_map_get_next_key(descriptor, from, &next) == 0; from = &key) {
    key = next;
    visit(descriptor, key);
  }
}

// Of a per-CPU map: visit(key, parts), a part for each processor.
template <class Key, class Part, class Visit>
void for_each_value(const bpf_map* map, Visit&& visit) {
  std::vector<Part> parts(possible_processors());
  for_each_key<Key>(map, [&](int descriptor, const Key& key) {
    if (bpf_map_lookup_elem(descriptor, &key, parts.data()) == 0) visit(key, parts);
  });
}

}  // namespace adaptyst::lib

#endif
