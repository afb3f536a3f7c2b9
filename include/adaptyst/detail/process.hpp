// State shared by all threads and ELF objects of a process: whether a tool is attached, tables of markers and call
// paths, the list of recorders. Data for other processes is in the store.
//
// One private mapping, made when a marker is first enabled and never unmapped. Its first pages are wiped in a forked
// child (MADV_WIPEONFORK): the child detects that no tool is attached, and that the store is its parent's. Every code
// path reads the epoch, the clock or a skip count from them before it writes to the store.
#ifndef ADAPTYST_DETAIL_PROCESS_HPP
#define ADAPTYST_DETAIL_PROCESS_HPP

#include "atomic.hpp"
#include "clock.hpp"
#include "event_sampling.hpp"
#include "loaded_objects.hpp"
#include "observer_settings.hpp"
#include "recorder_store.hpp"
#include "system.hpp"
#include "text.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct control_page {
  uint32_t abi;         // ADAPTYST_ABI_VERSION; 0 in a forked child
  uint32_t observer;    // the external process that reads the recorders, or 0
  uint64_t layout;      // state_layout of the data in the store; 0 until there is a recorder
  uint32_t noticed;     // all_noticed; 0 in a forked child; else the thread that handles the fork
  uint32_t owners;      // number of times a recorder got an owner
  uint64_t epoch;       // number of collector starts; rows of an older epoch are not read
  recorder* recorders;  // all recorders; push only
  clock_line clock;
  void (*object_loaded)();    // callback of the collector, for new ELF objects with markers
  uint64_t observer_started;  // see adaptyst_answer
  uint64_t trace_entries;     // size of each thread's ring for a timeline, a power of two; 0: no timeline
};

template <class T, size_t Slots>
struct intern_table {
  static_assert((Slots & (Slots - 1)) == 0, "a power of two");
  const T* slots[Slots];
};

struct process {
  control_page control;
  char pad[page_bytes - sizeof(control_page)];
  event_sampler event_samplers[max_recorders];  // by number of the recorder
  // Members from here on are not wiped.
  observer_settings settings;
  // Steps of markers that are too deep, instead of the settings, which the process may not write.
  uint64_t deeper_steps[max_sites];  // ADAPTYST_STEP_DEEPER, by number of the marker
  uint64_t has_deeper;               // a marker is too deep
  recorder_store* store;
  long store_file;     // its descriptor, or -1
  uint64_t is_shared;  // the store is a file: a child shares it
  intern_table<adaptyst_site, size_t{2} * max_sites> sites;
  intern_table<adaptyst_path, size_t{1} << 18> paths;
  // Each thread's recorder, for ELF objects without one. No destructor: its code could be unloaded before the thread
  // ends.
  unsigned int recorder_key;
  uint32_t forks;           // generation of forks; a forked process fires the probes that are never optimised
  uint64_t epochs;          // number of epochs, including before a fork
  uint32_t awaited;         // enum adaptyst_observation: the tool that waits for this child to detect the fork
  uint32_t number;          // pid; a child that shares this memory has another pid
  uint32_t traced_process;  // the process with a collector's uprobes in its code; a child inherits them, and must not
                            // reach them
};
constexpr size_t wiped_bytes = offsetof(process, settings);
static_assert(wiped_bytes % page_bytes == 0, "whole pages are wiped, and whole pages mapped");

// Identifies the observer by pid and start time.
template <class = void>
inline uint64_t observer_identity(const control_page& control) noexcept {
  return load(control.observer_started) << 32 | load(control.observer);
}

// Clears the settings of an observer that has gone: no other process could write them. The first thread that finds them
// without an owner takes them over.
template <class = void>
inline void forget_settings(process& in) noexcept {
  constexpr uint64_t being_cleared = 1;
  uint64_t& owner = in.store->head.settings_owner;
  uint64_t now = load(owner);
  if (now == 0 || now == being_cleared || now == observer_identity(in.control)) return;
  if (!compare_exchange(owner, now, being_cleared)) return;
  clear_settings(in.settings);
  store_release(owner, uint64_t{0});
}

constexpr uint32_t all_noticed = ~uint32_t{0};

template <class = void>
inline void* map_memory(size_t bytes) noexcept {
  void* const memory = system::map(nullptr, bytes, system::read_write, system::private_memory, -1, 0);
  return reinterpret_cast<intptr_t>(memory) == -1 ? nullptr : memory;
}

template <class = void>
inline void unmake_process(process* made, const recorder_store* kept = nullptr) noexcept {
  if (made->store != nullptr && made->store != kept) system::unmap(made->store, made->store->head.bytes);
  if (made->store_file >= 0) system::call(__NR_close, made->store_file);
  system::unmap(made, sizeof(process));
}

// Rows of an earlier epoch are not read.
template <class = void>
inline void begin_epoch(process& in) noexcept {
  const uint64_t epoch = ++in.epochs;
  store(in.store->head.epoch, epoch);
  store_release(in.control.epoch, epoch);
}

// From now on, timestamps are the processor's counter.
template <class = void>
inline void use_clock(process& in, const clock_line& line) noexcept {
  set_clock(in.store->head.clock, line);
  set_clock(in.control.clock, line);
}

// `kept`: a store in a file, or null.
template <class = void>
inline process* make_process(recorder_store* kept = nullptr) noexcept {
  auto* const made = static_cast<process*>(map_memory(sizeof(process)));
  if (made == nullptr) return nullptr;
  made->store_file = -1;
  // If a forked child cannot detect the fork, it must not share the store.
  const bool is_wiped = system::advise(made, wiped_bytes, system::wipe_on_fork) == 0;
  made->store = kept != nullptr ? kept : map_store(made->store_file, largest_store(), is_wiped);
  if (made->store == nullptr || (kept != nullptr && !is_wiped) || system::make_key(&made->recorder_key, nullptr) != 0) {
    unmake_process(made, kept);
    return nullptr;
  }
  made->is_shared = kept != nullptr || made->store_file >= 0 ? 1 : 0;
  made->store_file = seal_store(made->store_file);
  made->number = static_cast<uint32_t>(system::call(__NR_getpid));
  made->store->head.settings = &made->settings;
  made->control.abi = ADAPTYST_ABI_VERSION;
  made->control.noticed = all_noticed;
  begin_epoch(*made);  // so that a child, where the epoch is 0, detects the change
  return made;
}

// The shared state of this process, found through another ELF object or made; null without memory.
template <class = void>
ADAPTYST_DETAIL_COLD inline process* find_process(adaptyst_object& self, recorder_store* kept = nullptr) noexcept {
  uint64_t found = 0;
  for_each_object([&](adaptyst_object& object, const loaded_object&) {
    found = load_acquire(object.process);
    return found == 0;
  });
  if (found == 0) {
    process* const made = make_process(kept);
    if (made == nullptr) return nullptr;
    // Concurrent threads agree by the first object in the loader's order.
    for_each_object([&](adaptyst_object& first, const loaded_object&) {
      if (compare_exchange(first.process, found, reinterpret_cast<uint64_t>(made)))
        found = reinterpret_cast<uint64_t>(made);
      return false;
    });
    if (found != reinterpret_cast<uint64_t>(made)) {
      system::delete_key(made->recorder_key);
      unmake_process(made, kept);
    }
  }
  if (found != 0) store_release(self.process, found);
  return reinterpret_cast<process*>(found);
}

template <class = void>
ADAPTYST_DETAIL_INLINE process* get_process(adaptyst_object& self) noexcept {
  const uint64_t address = load_acquire(self.process);
  return ADAPTYST_DETAIL_UNLIKELY(address == 0) ? find_process(self) : reinterpret_cast<process*>(address);
}

}}}  // namespace adaptyst::v1::detail

#endif
