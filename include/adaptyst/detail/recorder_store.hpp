// Memory of a process that an observer can hold and read after the process has ended.
//
// One sparse mapping, made when a marker is first enabled and never unmapped. If possible it is a memfd, shared with
// every process that holds its descriptor; seals prevent other processes from writing or shortening it. Otherwise it is
// private and ends with the process. Unwritten pages take no memory. A collector may use a file that stays after a
// kill. Each piece of the file is allocated before first use, because a full disk would raise a signal later.
//
// A forked child has the parent's mapping and must not write there: see process.hpp.
#ifndef ADAPTYST_DETAIL_RECORDER_STORE_HPP
#define ADAPTYST_DETAIL_RECORDER_STORE_HPP

#include "atomic.hpp"
#include "clock.hpp"
#include "device_activity.hpp"
#include "system.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct recorder;

constexpr size_t arena_bytes = size_t{48} << 20;
constexpr uint64_t page_bytes = 4096;

constexpr uint64_t store_magic = 0x7473797470616461;  // "adaptyst"

// Read first. Pointers are addresses in the process.
struct store_head {
  uint64_t magic;
  uint64_t layout;  // state_layout of the shared data; 0 until data is written
  uint64_t base;    // address in the process
  uint64_t bytes;   // total size
  uint64_t below;   // used bytes at the beginning: consecutive recorders
  uint64_t above;   // used bytes at the end: rows, rings
  uint64_t epoch;   // of valid rows, as control_page::epoch
  recorder* recorders;
  const void* settings;  // detail::observer_settings, address in the process
  // observer_identity() of the observer that started the program and owns the settings; else 0.
  uint64_t settings_owner;
  uint64_t numbered;  // markers that have a number in the settings
  clock_line clock;
  uint64_t is_kept;  // it is a permanent file
  uint64_t is_full;  // its disk was full
};

// For a kept file: the process to which it belongs. Texts end in NUL.
struct store_owner {
  uint64_t boot[2];            // boot id of the machine
  uint64_t process, started;   // pid, and its start in clock ticks since boot
  uint64_t began_ns, last_ns;  // CLOCK_MONOTONIC: start of the collector, and last sign of life
  uint64_t cpu_ns, cpus;       // CPU time used by then, and number of allowed processors
  uint64_t began_s;            // CLOCK_REALTIME of the collector's start
  char command[248];
  uint64_t rank;  // rank in its MPI program, plus 1; 0: none
  char host[64];
};

// See metric.hpp. An entry is written once, and complete when `is_present` is set.
constexpr uint64_t max_metadata = 64;
struct metadata_entry {
  uint64_t is_present;
  char name[64];
  char value[256];
};
struct metadata_table {
  uint64_t calls;  // calls of metadata(); calls beyond the entries were lost
  metadata_entry entries[max_metadata];
};

// The beginning of the store.
struct recorder_store {
  store_head head;
  store_owner owner;
  device_activity_buffer activity;
  metadata_table metadata;
  uint64_t arena_used;
  char arena[arena_bytes];

  // Memory that is never freed, 8-byte aligned; null if the arena is full.
  void* allocate(size_t more) noexcept {
    more = (more + 7) & ~size_t{7};
    uint64_t at = load_acquire(arena_used);
    do {
      if (at + more > arena_bytes || !provide(arena + at, more)) return nullptr;
    } while (!compare_exchange(arena_used, at, at + more));
    return arena + at;
  }
  // The same for large blocks, in separate pages.
  void* allocate_pages(size_t more) noexcept {
    more = (more + page_bytes - 1) & ~(page_bytes - 1);
    uint64_t above = load_acquire(head.above);
    do {
      if (load_acquire(head.below) + above + more > head.bytes) return nullptr;
      if (!provide(first() + head.bytes - above - more, more)) return nullptr;
    } while (!compare_exchange(head.above, above, above + more));
    // Another thread may have allocated from below concurrently; the later of the two detects it.
    if (load_acquire(head.below) + above + more > head.bytes) return nullptr;
    return first() + head.bytes - above - more;
  }
  // The same at the beginning of the store, for blocks of one size in whole pages. Only the first page of each block is
  // shared.
  void* allocate_below(size_t more) noexcept {
    uint64_t below = load_acquire(head.below);
    do {
      if (below + more + load_acquire(head.above) > head.bytes) return nullptr;
      if (!provide(first() + below, page_bytes)) return nullptr;
    } while (!compare_exchange(head.below, below, below + more));
    if (below + more + load_acquire(head.above) > head.bytes) return nullptr;
    return first() + below;
  }
  // Frees the block at `begin`, unless there is a later block.
  void give_back_below(uint64_t begin, size_t bytes) noexcept {
    uint64_t below = begin + bytes;
    compare_exchange(head.below, below, begin);
  }
  // For a store on a disk: allocates the pages now, because a later write to a full disk would raise a signal. False if
  // the disk is full, or was full before.
  bool provide(const char* from, uint64_t bytes) noexcept {
    if (head.is_kept == 0) return true;
    if (load(head.is_full) != 0) return false;
    const system::errno_kept unchanged;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(from) & ~(page_bytes - 1);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(from) + bytes + page_bytes - 1) & ~(page_bytes - 1);
    int failed = 0;
    do failed = system::advise(reinterpret_cast<void*>(begin), end - begin, system::populate_to_write);
    while (failed != 0 && *system::error_number() == system::interrupted);
    if (failed != 0) store(head.is_full, uint64_t{1});
    return failed == 0;
  }

 private:
  char* first() noexcept { return reinterpret_cast<char*>(this); }
};
constexpr uint64_t first_below = (sizeof(recorder_store) + page_bytes - 1) & ~(page_bytes - 1);

constexpr uint64_t smallest_store = uint64_t{1} << 27;  // of addresses

// A sixteenth of the machine's memory, because mlockall() would allocate the whole store; at most 32 GiB.
template <class = void>
inline uint64_t largest_store() noexcept {
#ifdef ADAPTYST_DETAIL_THREAD_SANITIZER
  uint64_t bytes = uint64_t{1} << 30;
#else
  uint64_t bytes = uint64_t{1} << 35;
#endif
  constexpr unsigned total = 4, unit = 13;  // word indices in struct sysinfo
  uint64_t machine[16] = {};
  if (system::call(__NR_sysinfo, machine) == 0)
    while (bytes > smallest_store && bytes > machine[total] * static_cast<uint32_t>(machine[unit]) / 16) bytes /= 2;
  return bytes;
}

// The file cannot be resized or mapped again for writing, and these seals cannot be removed.
constexpr long store_seals = 0x01 | 0x02 | 0x04 | 0x10;  // F_SEAL_SEAL, _SHRINK, _GROW, _FUTURE_WRITE

// If the program has closed our memfd, its number may belong to another file. The seals identify ours almost certainly.
template <class = void>
inline bool is_store(long file) noexcept {
  constexpr long get_seals = 1034;  // F_GET_SEALS
  return file >= 0 && (system::call(__NR_fcntl, file, get_seals, 0L) & (store_seals | ~0xffL)) == store_seals;
}

template <class = void>
inline long make_memory_file() noexcept {
  constexpr long close_on_exec = 1, allow_sealing = 2, never_executed = 8;  // MFD_
  constexpr long duplicate = 1030, not_standard = 3;                        // F_DUPFD_CLOEXEC
  long made = system::call(__NR_memfd_create, "adaptyst", close_on_exec | allow_sealing | never_executed);
  if (made < 0) made = system::call(__NR_memfd_create, "adaptyst", close_on_exec | allow_sealing);
  if (made < 0 || made >= not_standard) return made;
  // Avoids the first three numbers: a program may have closed its standard output, and reopen it.
  const long other = system::call(__NR_fcntl, made, duplicate, not_standard);
  system::call(__NR_close, made);
  return other;
}

// File size beyond which the process gets a signal.
template <class = void>
inline uint64_t file_limit() noexcept {
  constexpr long of_files = 1;  // RLIMIT_FSIZE
  uint64_t limits[2] = {~uint64_t{0}, ~uint64_t{0}};
  system::call(__NR_prlimit64, 0L, of_files, nullptr, limits);
  return limits[0];
}

// Call it after mapping: it forbids further writable mappings. If sealing fails, closes the descriptor and returns -1.
template <class = void>
inline long seal_store(long file) noexcept {
  constexpr long add_seals = 1033;  // F_ADD_SEALS
  if (file < 0 || system::call(__NR_fcntl, file, add_seals, store_seals) == 0) return file;
  system::call(__NR_close, file);
  return -1;
}

template <class = void>
inline recorder_store* begin_store(void* mapped, uint64_t bytes) noexcept {
  auto* const made = static_cast<recorder_store*>(mapped);
  made->head.magic = store_magic;
  made->head.base = reinterpret_cast<uintptr_t>(mapped);
  made->head.bytes = bytes;
  made->head.below = first_below;
  return made;
}

// Null without memory. `file`: its unsealed descriptor, or -1 if private.
template <class = void>
inline recorder_store* map_store(long& file, uint64_t largest = largest_store(), bool may_share = true) noexcept {
  file = may_share ? make_memory_file() : -1;
  const uint64_t limit = file_limit();
  while (file >= 0 && largest > limit && limit >= smallest_store) largest /= 2;
  for (uint64_t bytes = largest; bytes >= smallest_store; bytes /= 2) {
    const bool as_file = file >= 0 && bytes <= limit && system::call(__NR_ftruncate, file, bytes) == 0;
    void* const mapped =
        system::map(nullptr, bytes, system::read_write, as_file ? system::shared_file : system::private_memory,
                    as_file ? static_cast<int>(file) : -1, 0);
    if (reinterpret_cast<intptr_t>(mapped) == -1) continue;
    if (!as_file && file >= 0) {
      system::call(__NR_close, file);
      file = -1;
    }
    system::advise(mapped, bytes, system::not_in_core_dumps);
    return begin_store(mapped, bytes);
  }
  if (file >= 0) system::call(__NR_close, file);
  file = -1;
  return nullptr;
}

}}}  // namespace adaptyst::v1::detail

#endif
