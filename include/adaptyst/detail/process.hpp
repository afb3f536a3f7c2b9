// What all threads and ELF objects of a process share: markers, call paths, devices, and the list of recorders.
//
// It is one anonymous mapping, made when a marker is first awake and never unmapped. Its control page is wiped in a
// forked child (MADV_WIPEONFORK), which is how a child notices that nobody looks at it.
#ifndef ADAPTYST_DETAIL_PROCESS_HPP
#define ADAPTYST_DETAIL_PROCESS_HPP

#include "atomic.hpp"
#include "clock.hpp"
#include "device_ledger.hpp"
#include "loaded_objects.hpp"
#include "system.hpp"
#include "text.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct recorder;

struct control_page {
  uint32_t abi;       // ADAPTYST_ABI_VERSION; 0 in a child that has forked
  uint32_t observer;  // the process outside that reads the recorders, or 0
  uint64_t layout;    // of all that it reads there, layout_of_state; 0 until there is a recorder
  uint32_t recorders_made;
  uint32_t owners;      // how often a recorder has got an owner
  uint64_t epoch;       // how many collectors have started; rows of an older epoch are not read
  recorder* recorders;  // all there are; only ever pushed to
  clock_line clock;
  void (*object_loaded)();  // the collector's, called when an ELF object with markers appears
  uint64_t trace_entries;   // of each thread's ring for a timeline, a power of two; 0: none is asked for
};

template <class T, size_t Slots>
struct intern_table {
  static_assert((Slots & (Slots - 1)) == 0, "a power of two");
  const T* slots[Slots];
};

constexpr size_t control_bytes = 4096;
constexpr size_t arena_bytes = size_t{48} << 20;

struct process {
  control_page control;
  char pad[control_bytes - sizeof(control_page)];
  device_ledger ledger;
  intern_table<adaptyst_site, size_t{1} << 16> sites;
  intern_table<adaptyst_path, size_t{1} << 18> paths;
  // Each thread's recorder, for the ELF objects in which it has none yet. Without a destructor: the code of one could be
  // unloaded before the thread ends.
  unsigned int recorder_key;
  uint64_t epochs;          // that there have been, also before a fork
  uint32_t forked;          // this is a child: it fires the probes that are never optimised
  uint32_t traced_process;  // in which a collector's uprobes are in the code; a child has them in its own, and must not
  uint64_t arena_used;
  char arena[arena_bytes];

  // Memory for what is never freed, 8-byte aligned; null when the arena is full.
  void* allocate(size_t bytes) noexcept {
    bytes = (bytes + 7) & ~size_t{7};
    if (load(arena_used) + bytes > arena_bytes) return nullptr;
    const uint64_t at = fetch_add(arena_used, bytes);
    return at + bytes <= arena_bytes ? arena + at : nullptr;
  }
};
static_assert(offsetof(process, ledger) == control_bytes, "only the control page is wiped in a child");

template <class = void>
inline void* map_memory(size_t bytes) noexcept {
  void* const memory = system::map(nullptr, bytes, system::read_write, system::private_memory, -1, 0);
  return reinterpret_cast<intptr_t>(memory) == -1 ? nullptr : memory;
}

template <class = void>
inline process* make_process() noexcept {
  auto* const made = static_cast<process*>(map_memory(sizeof(process)));
  if (made == nullptr) return nullptr;
  if (system::make_key(&made->recorder_key, nullptr) != 0) {
    system::unmap(made, sizeof(process));
    return nullptr;
  }
  system::advise(made, control_bytes, system::wipe_on_fork);
  made->control.abi = ADAPTYST_ABI_VERSION;
  made->control.epoch = made->epochs = 1;  // so that a child, where it is 0, sees that it has changed
  return made;
}

// The state of this process, found at another object or made; null when there is no memory for it.
template <class = void>
ADAPTYST_DETAIL_COLD inline process* find_process(adaptyst_object& self) noexcept {
  uint64_t found = 0;
  for_each_object([&](adaptyst_object& object, const loaded_object&) {
    found = load_acquire(object.process);
    return found == 0;
  });
  if (found == 0) {
    process* const made = make_process();
    if (made == nullptr) return nullptr;
    // All who come here at once agree by the first object in the loader's order.
    for_each_object([&](adaptyst_object& first, const loaded_object&) {
      if (compare_exchange(first.process, found, reinterpret_cast<uint64_t>(made)))
        found = reinterpret_cast<uint64_t>(made);
      return false;
    });
    if (found != reinterpret_cast<uint64_t>(made)) {
      system::delete_key(made->recorder_key);
      system::unmap(made, sizeof(process));
    }
  }
  if (found != 0) store_release(self.process, found);
  return reinterpret_cast<process*>(found);
}

template <class = void>
ADAPTYST_DETAIL_INLINE process* process_of(adaptyst_object& self) noexcept {
  const uint64_t known = load_acquire(self.process);
  return ADAPTYST_DETAIL_UNLIKELY(known == 0) ? find_process(self) : reinterpret_cast<process*>(known);
}

}}}  // namespace adaptyst::v1::detail

#endif
