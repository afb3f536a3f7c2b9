// What the maps of the ebpf engine take in the kernel, without context: of 200 call paths that are used on every
// processor of a machine with 256, computed from the same on this one.
//
// The paths are really used, by a thread on each processor. Then each map is asked what it is and what it holds, and
// /proc/self/fdinfo says what it takes. What is counted by processor (arrays, rows) is scaled to 256 of them. What the
// kernel does not tell is added: an element takes as much as kmalloc() has room for, and the allocator of BPF maps
// keeps some at hand on every processor that has taken one. Names count as if each had been met first on another
// processor.
#include "../probes/kernel_layout.h"
#include "measure.hpp"

#ifndef ADAPTYST_BENCH_EBPF

namespace bench {
void kernel_memory(measurements&) {}
}  // namespace bench

#else

#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

namespace bench {

namespace {

constexpr std::size_t machine = 256;  // processors
constexpr int paths = 200;
constexpr int turns = 100;

// Each on its processor, one after the other.
void use_paths_everywhere(std::size_t processors) {
  for (std::size_t processor = 0; processor != processors; ++processor)
    std::thread([processor] {
      cpu_set_t only;
      CPU_ZERO(&only);
      CPU_SET(processor, &only);
      sched_setaffinity(0, sizeof only, &only);
      for (int turn = 0; turn != turns; ++turn)
        for (int path = 0; path != paths; ++path) {
          ADAPTYST_REGION("path " + std::to_string(path));
          for (int step = 0; step != 2000 + 200 * path; ++step) __asm__ volatile("");
        }
    }).join();
}

std::size_t rounded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

// What kmalloc() takes for it.
std::size_t slab_bytes(std::size_t bytes) {
  if (bytes > 64 && bytes <= 96) return 96;
  if (bytes > 128 && bytes <= 192) return 192;
  std::size_t slab = 8;
  while (slab < bytes) slab *= 2;
  return slab;
}

// How many elements the allocator of BPF maps has at hand on a processor that has taken `taken`: a few from the start,
// and a batch more whenever there are few left (kernel/bpf/memalloc.c).
std::size_t kept_at_hand(std::size_t bytes, std::size_t taken) {
  const bool is_small = bytes <= 256;
  const std::size_t low = is_small ? 32 : std::max<std::size_t>(32 * 256 / bytes, 1);
  const std::size_t high = is_small ? 96 : std::max<std::size_t>(96 * 256 / bytes, 3);
  const std::size_t batch = std::max<std::size_t>((high - low) / 4 * 3, 1);
  std::size_t kept = is_small ? 4 : 1;
  for (; taken != 0; --taken)
    if (--kept < low) kept += batch;
  return kept;
}

std::size_t count_entries(int map, std::size_t key_bytes) {
  std::string key(key_bytes, '\0');
  std::string next(key_bytes, '\0');
  std::size_t count = 0;
  for (const char* from = nullptr; bpf_map_get_next_key(map, from, next.data()) == 0; ++count) {
    key = next;
    from = key.data();
  }
  return count;
}

// As /proc says, in bytes; 0: it is no map.
std::size_t reported_memory(const char* descriptor) {
  std::ifstream info(std::string("/proc/self/fdinfo/") + descriptor);
  for (std::string word; info >> word;)
    if (std::size_t bytes = 0; word == "memlock:" && info >> bytes) return bytes;
  return 0;
}

// Of a map in a machine of 256 processors. The kernel tells the sum of a map's table and elements, but for what its
// allocators round up and keep at hand.
std::size_t memory_there(int map, const bpf_map_info& info, std::size_t reported, std::size_t processors) {
  const std::size_t value = rounded(info.value_size);
  if (info.type == BPF_MAP_TYPE_PERCPU_ARRAY || info.type == BPF_MAP_TYPE_PERCPU_HASH)
    return reported + value * info.max_entries * (machine - processors);
  if (info.type != BPF_MAP_TYPE_HASH || (info.map_flags & BPF_F_NO_PREALLOC) == 0) return reported;
  constexpr std::size_t head = 48 + 8;  // of an element, and the allocator's own
  constexpr std::size_t bucket = 16;
  const std::size_t element = head + rounded(info.key_size) + value;
  const std::size_t here = count_entries(map, info.key_size);
  const bool is_per_processor = std::strcmp(info.name, "rows") == 0;
  const std::size_t there = is_per_processor ? here * machine / processors : here;
  // The table of rows is larger there.
  if (is_per_processor && info.max_entries < ADAPTYST_KERNEL_PARTS)
    reported += (ADAPTYST_KERNEL_PARTS - info.max_entries) * bucket;
  const std::size_t takers = std::min(there, machine);
  std::size_t elements = there + (machine - takers) * kept_at_hand(element, 0);
  if (takers != 0) elements += takers * kept_at_hand(element, there / takers);
  return reported - here * element + elements * slab_bytes(element);
}

}  // namespace

void kernel_memory(measurements& results) {
  const auto processors = static_cast<std::size_t>(std::max(libbpf_num_possible_cpus(), 1));
  adaptyst::collector collector("engine=ebpf,overhead=none,context=none,report=none");
  require(collector);
  if (processors > machine)
    throw std::runtime_error("this machine has more processors than the figure is computed for");
  use_paths_everywhere(processors);
  std::size_t sum = 0;
  DIR* const descriptors = opendir("/proc/self/fd");
  if (descriptors == nullptr) return;
  while (const dirent* const entry = readdir(descriptors)) {
    const std::size_t map_memory = reported_memory(entry->d_name);
    bpf_map_info info{};
    std::uint32_t bytes = sizeof info;
    const int map = std::atoi(entry->d_name);
    if (map_memory == 0 || bpf_obj_get_info_by_fd(map, &info, &bytes) != 0) continue;
    sum += memory_there(map, info, map_memory, processors);
  }
  closedir(descriptors);
  results["ebpf_kernel_mib_256_cpus"] = static_cast<double>(sum) / (1024 * 1024);
}

}  // namespace bench

#endif
