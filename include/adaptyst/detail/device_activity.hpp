// Device activity buffer: each thread stores device operations and waits of the host; a sweep adds them to sums.
//
// A thread appends entries to its own block: five stores, no lock, no shared memory. When the block is full, it takes a
// free one. When nearly all of `max_blocks` are in use, the thread that notices it sweeps: the earliest entries of all
// blocks are added to the sums, in order of their begins, and empty blocks are freed. The sums are exact as long as no
// entry comes after about 450,000 later-started entries of the process; later entries are counted as late
// (device_sums.hpp). A reader sweeps the rest in a copy, and is exact up to now.
//
// Reads are consistent, even if the program was killed during a sweep. There are two sets of sums; the lowest bit of
// `commits` selects the valid set. A sweep fills the other set, then adds 1. An entry is in the sums depending on its
// begin, and on whether the sweep has read it. Complete entries do not change, and a freed block is refilled only after
// many others.
//
// Memory: 0.5 MiB at first, 16 MiB at most. The first sweep adds the touched part of 1.8 MiB.
#ifndef ADAPTYST_DETAIL_DEVICE_ACTIVITY_HPP
#define ADAPTYST_DETAIL_DEVICE_ACTIVITY_HPP

#include "device_sums.hpp"
#include "merge_sort.hpp"
#include "system.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr size_t device_name_bytes = 40;

// Clock of a device, and its conversion.
struct clock_account {
  uint32_t id;  // enum class clock_id
  uint32_t sync_points;
  int64_t offset_ns;  // CLOCK_MONOTONIC less the device's clock, at the last read
  double drift_ppm;
  uint64_t residual_ns;  // prediction error of the last sync point
};

struct device_entry {
  uint32_t state;  // 0 free, 1 being written, 2 ready
  uint32_t kind;
  uint32_t index;
  uint32_t pad;
  char name[device_name_bytes];
  uint64_t clock_epoch;    // epoch of the collector to which the clock was reported
  uint64_t clock_changes;  // its lowest bit selects the valid element of `clocks`
  clock_account clocks[2];
};

// Stored form of an entry: half as many cache lines.
struct packed_entry {
  uint64_t begin_ns;
  uint64_t queue;
  uint64_t waited_ns;  // time since submission, plus 1; 0: no submission
  uint64_t what;       // duration, device, work

  static constexpr unsigned device_bits = 8, work_bits = 8;
  static constexpr uint64_t max_ns = (uint64_t{1} << (64 - device_bits - work_bits)) - 1;

  ADAPTYST_DETAIL_INLINE void set(const activity_entry& from) noexcept {
    const uint64_t lasted_ns = from.end_ns - from.begin_ns;
    store(begin_ns, from.begin_ns);
    store(queue, from.queue);
    store(waited_ns, from.submitted_ns != 0 ? from.begin_ns - from.submitted_ns + 1 : 0);
    store(what, (lasted_ns < max_ns ? lasted_ns : max_ns) << (device_bits + work_bits) |
                    uint64_t{from.device} << work_bits | static_cast<uint64_t>(from.work));
  }
  ADAPTYST_DETAIL_INLINE activity_entry get() const noexcept {
    const uint64_t begin = load(begin_ns);
    const uint64_t waited = load(waited_ns);
    const uint64_t rest = load(what);
    return {begin,
            begin + (rest >> (device_bits + work_bits)),
            waited != 0 ? begin - (waited - 1) : 0,
            load(queue),
            static_cast<uint32_t>(rest >> work_bits & ((1U << device_bits) - 1)),
            static_cast<device_work>(rest & ((1U << work_bits) - 1))};
  }
};

// Order of entries with equal begins: makes the sums independent of thread and order. A wait begins before it ends.
struct comes_before {
  ADAPTYST_DETAIL_INLINE bool operator()(const packed_entry& a, const packed_entry& b) const noexcept {
    if (a.waited_ns != b.waited_ns) return a.waited_ns > b.waited_ns;
    return a.what != b.what ? a.what < b.what : a.queue < b.queue;
  }
};

// One cache line, separate from the entries: a sweep reads all of them.
struct alignas(64) activity_block {
  uint32_t count;  // complete entries; 0 if free
  uint32_t state;  // enum class block_state
  uint64_t epoch;  // of the collector
  uint64_t min_begin_ns, max_begin_ns;
  uint64_t uses;     // number of times it was taken
  uint32_t seen[2];  // entries read by a sweep; indexed like the sums
};
enum class block_state : uint32_t { free, filling, full };

constexpr uint32_t entries_per_block = 256;
constexpr uint32_t blocks_per_chunk = 64;
constexpr uint32_t max_chunks = 32;
constexpr uint32_t max_blocks = max_chunks * blocks_per_chunk;

struct activity_chunk {
  activity_block blocks[blocks_per_chunk];
  packed_entry entries[blocks_per_chunk][entries_per_block];
};

// Memory for sorting, and the sums. Most programs never need it.
struct sweep_memory {
  struct key {
    uint64_t begin_ns;
    const packed_entry* entry;
  };
  static constexpr uint32_t max_keys = 1 << 14;
  activity_sums sums[2];  // initially zero
  key keys[max_keys], spare[max_keys];
};

struct block_place {
  activity_block* head;
  packed_entry* entries;
};

// All devices of a process.
struct device_activity_buffer {
  uint32_t lock;         // held to sweep, to allocate, and to begin for another collector
  uint32_t chunk_count;  // allocated chunks
  uint32_t chunk_limit;  // no memory beyond this number; 0: unknown
  uint32_t free_blocks;  // approximately
  uint32_t next_block;   // where the search for a free block begins: oldest first
  uint32_t pad;
  uint64_t epoch;              // of the current collector
  uint64_t skipped;            // entries without room
  uint64_t commits;            // its lowest bit selects the valid sums
  sweep_memory* sweep_buffer;  // null: nothing swept yet
  activity_chunk* chunks[max_chunks];
  device_entry devices[max_devices];  // by number less 1

  block_place block(uint32_t number) const noexcept {
    activity_chunk& in = *chunks[number / blocks_per_chunk];
    return {&in.blocks[number % blocks_per_chunk], in.entries[number % blocks_per_chunk]};
  }
  uint32_t block_count() const noexcept { return load_acquire(chunk_count) * blocks_per_chunk; }
  // True early, so that other threads find free blocks while this one frees more.
  bool lacks_blocks() const noexcept {
    return load(free_blocks) <= (load(chunk_limit) == 0 ? blocks_per_chunk / 4 : block_count() / 16);
  }

  // Null if none is free.
  template <class = void>
  block_place take_block(uint64_t for_epoch) noexcept {
    if (load(free_blocks) == 0) return {};
    const uint32_t count = block_count();
    for (uint32_t tried = 0; tried != count; ++tried) {
      const block_place found = block(fetch_add(next_block, 1) % count);
      uint32_t state = load(found.head->state);
      if (state != is(block_state::free) || !compare_exchange(found.head->state, state, is(block_state::filling)))
        continue;
      fetch_add(free_blocks, -1);
      store(found.head->epoch, for_epoch);
      store(found.head->min_begin_ns, ~uint64_t{0});
      store(found.head->max_begin_ns, 0);
      store(found.head->uses, found.head->uses + 1);
      store(found.head->seen[0], 0);
      store(found.head->seen[1], 0);
      return found;
    }
    return {};
  }

  // The thread that filled the block calls it, or a thread that records nothing more for this collector.
  static void leave_block(activity_block& head) noexcept { store_release(head.state, is(block_state::full)); }

  // Restarts for another collector. The lock must be held, here and below.
  template <class = void>
  void begin(uint64_t new_epoch) noexcept {
    if (sweep_buffer != nullptr)
      __builtin_memset(static_cast<void*>(&sweep_buffer->sums[(commits + 1) & 1]), 0, offsetof(activity_sums, devices));
    store(skipped, 0);
    commit();
    store_release(epoch, new_epoch);
    free_old_blocks();
  }

  void report_clock(uint32_t device, const clock_account& clock) noexcept {
    device_entry& entry = devices[device - 1];
    // Written word by word, because readers may read it concurrently.
    static_assert(sizeof clock % sizeof(uint64_t) == 0, "whole words");
    uint64_t words[sizeof clock / sizeof(uint64_t)];
    __builtin_memcpy(words, &clock, sizeof clock);
    auto* const place = reinterpret_cast<char*>(&entry.clocks[(entry.clock_changes + 1) & 1]);
    for (size_t at = 0; at != sizeof words / sizeof words[0]; ++at) {
      using word __attribute__((may_alias)) = uint64_t;
      store(reinterpret_cast<word*>(place)[at], words[at]);
    }
    store_release(entry.clock_changes, entry.clock_changes + 1);
    store_release(entry.clock_epoch, epoch);
  }

  // For the copy in a forked child: no thread has a block.
  template <class = void>
  void forget_threads() noexcept {
    lock = 0;
    free_blocks = 0;
    for (uint32_t at = 0; at != block_count(); ++at) free_block(*block(at).head);
  }

  // Ensures that a block is free; false without room.
  template <class Store>
  bool make_room(Store& in) noexcept {
    if (load(free_blocks) != 0 && !lacks_blocks()) return true;
    if (chunk_limit == 0 && grow(in)) return true;
    if (sweep_buffer == nullptr)
      store_release(sweep_buffer, static_cast<sweep_memory*>(in.allocate_pages(sizeof(sweep_memory))));
    free_old_blocks();
    // Every block may hold an entry that begins far in the future. Then a sweep frees no block, and the next sweep
    // continues.
    for (unsigned sweeps = 0; sweep_buffer != nullptr && sweeps != max_sweeps && lacks_blocks(); ++sweeps)
      if (!sweep_some()) break;
    return load(free_blocks) != 0;
  }

 private:
  static constexpr unsigned max_sweeps = 16;

  static constexpr uint32_t is(block_state state) noexcept { return static_cast<uint32_t>(state); }

  void commit() noexcept { store_release(commits, commits + 1); }

  template <class Store>
  bool grow(Store& in) noexcept {
    auto* const made = static_cast<activity_chunk*>(in.allocate_pages(sizeof(activity_chunk)));
    if (made != nullptr) {
      store(chunks[chunk_count], made);
      store_release(chunk_count, chunk_count + 1);
      fetch_add(free_blocks, blocks_per_chunk);
    }
    if (made == nullptr || chunk_count == max_chunks) store(chunk_limit, chunk_count);
    return made != nullptr;
  }

  void free_block(activity_block& head) noexcept {
    fetch_add(free_blocks, 1);
    store(head.count, 0);
    store_release(head.state, is(block_state::free));
  }

  template <class = void>
  void free_old_blocks() noexcept {
    for (uint32_t at = 0; at != block_count(); ++at) {
      activity_block& head = *block(at).head;
      if (load_acquire(head.state) == is(block_state::full) && load(head.epoch) != epoch) free_block(head);
    }
  }

  // Sweeps entries that begin before this time: far enough to empty a few blocks.
  template <class = void>
  uint64_t next_horizon() noexcept {
    uint32_t count = 0;
    for (uint32_t at = 0; at != block_count(); ++at) {
      const activity_block& head = *block(at).head;
      if (load_acquire(head.state) == is(block_state::full) && load(head.epoch) == epoch)
        sweep_buffer->keys[count++] = {load(head.max_begin_ns), nullptr};
    }
    if (count == 0) return 0;
    const auto* const sorted = merge_sorted(sweep_buffer->keys, sweep_buffer->spare, count,
                                            [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    const uint32_t few = block_count() / 64;
    return sorted[few < count ? few : count - 1].begin_ns + 1;
  }

  // False: nothing to sweep.
  template <class = void>
  bool sweep_some() noexcept {
    using key = sweep_memory::key;
    const activity_sums& now = sweep_buffer->sums[commits & 1];
    activity_sums& next = sweep_buffer->sums[(commits + 1) & 1];
    uint64_t horizon_ns = next_horizon();
    if (horizon_ns == 0) return false;
    if (horizon_ns < now.horizon_ns) horizon_ns = now.horizon_ns;
    __builtin_memcpy(static_cast<void*>(&next), &now, now.used_bytes());
    const auto by_begin = [](const key& a, const key& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : comes_before()(*a.entry, *b.entry);
    };
    key* keys = sweep_buffer->keys;
    key* spare = sweep_buffer->spare;
    uint32_t count = 0;
    bool is_stuck = false;  // all entries that fit began at the same time: further entries of that time are swept in
                            // order of arrival
    const auto sort = [&] {
      key* const sorted = merge_sorted(keys, spare, count, by_begin);
      if (sorted == keys) return;
      spare = keys;
      keys = sorted;
    };
    // The room is full: the later half is kept for a later sweep.
    const auto keep_half = [&] {
      sort();
      horizon_ns = keys[count / 2].begin_ns + (keys[count / 2].begin_ns == keys[0].begin_ns ? 1 : 0);
      while (count != 0 && keys[count - 1].begin_ns >= horizon_ns) --count;
      return count != sweep_memory::max_keys;
    };
    for (uint32_t at = 0; at != block_count(); ++at) {
      const block_place from = block(at);
      const uint32_t known_count = load_acquire(from.head->count);
      if (known_count == 0 || load(from.head->epoch) != epoch) continue;
      const uint32_t seen = load(from.head->seen[commits & 1]);
      if (load(from.head->seen[(commits + 1) & 1]) != known_count)
        store(from.head->seen[(commits + 1) & 1], known_count);
      if (load(from.head->min_begin_ns) >= horizon_ns) continue;
      for (uint32_t entry = 0; entry != known_count; ++entry) {
        const uint64_t begin_ns = load(from.entries[entry].begin_ns);
        if (begin_ns < now.horizon_ns) {
          if (entry >= seen) next.add(from.entries[entry].get());
        } else if (begin_ns < horizon_ns) {
          if (count == sweep_memory::max_keys && !is_stuck) is_stuck = !keep_half();
          if (is_stuck) next.add(from.entries[entry].get());
          else if (begin_ns < horizon_ns) keys[count++] = {begin_ns, &from.entries[entry]};
        }
      }
    }
    sort();
    for (uint32_t at = 0; at != count; ++at) next.add(keys[at].entry->get());
    next.horizon_ns = horizon_ns;
    commit();
    free_swept_blocks(horizon_ns);
    return true;
  }

  template <class = void>
  void free_swept_blocks(uint64_t horizon_ns) noexcept {
    for (uint32_t at = 0; at != block_count(); ++at) {
      activity_block& head = *block(at).head;
      if (load_acquire(head.state) != is(block_state::full)) continue;
      const bool is_swept = load(head.max_begin_ns) < horizon_ns && load(head.seen[commits & 1]) == load(head.count);
      if (is_swept || load(head.epoch) != epoch) free_block(head);
    }
  }
};

ADAPTYST_DETAIL_INLINE bool try_lock(uint32_t& lock) noexcept {
  uint32_t free = 0;
  return load(lock) == 0 && compare_exchange(lock, free, uint32_t{1});
}

// The holder may have lost its core to this thread, so this thread yields. Gives up after 0.1 s.
template <class = void>
ADAPTYST_DETAIL_COLD inline bool lock_slowly(uint32_t& lock) noexcept {
  constexpr unsigned spins = 200, yields = 2000, naps = 1000;
  const system::errno_kept unchanged;
  for (unsigned attempt = 0; attempt != spins + yields + naps; ++attempt) {
    if (try_lock(lock)) return true;
    const system::time a_while{0, 100'000};
    if (attempt >= spins + yields) system::call(__NR_nanosleep, &a_while, nullptr);
    else if (attempt >= spins) system::call(__NR_sched_yield);
  }
  return false;
}

// Runs `change(buffer)` under the lock, restarted for a newer epoch; not run if `epoch` is over. Gives up if the holder
// sleeps too long.
template <class Change>
bool with_activity_buffer(device_activity_buffer& in, uint64_t epoch, Change&& change) noexcept {
  if (!lock_slowly(in.lock)) return false;
  if (in.epoch < epoch) in.begin(epoch);
  const bool is_ours = in.epoch == epoch;
  if (is_ours) change(in);
  store_release(in.lock, 0);
  return is_ours;
}

// Current block of a thread.
struct activity_place {
  activity_block* head;  // null: none yet
  packed_entry* entries;
};

// Takes another block for a thread; false if none is free or the observation is over.
template <class Store>
ADAPTYST_DETAIL_COLD bool next_place(Store& in, uint64_t epoch, activity_place& place) noexcept {
  device_activity_buffer& activity = in.activity;
  if (place.head != nullptr) device_activity_buffer::leave_block(*place.head);
  place = {};
  constexpr unsigned attempts = 4;  // other threads may take a free block first
  for (unsigned attempt = 0; attempt != attempts; ++attempt) {
    const uint64_t now = load_acquire(activity.epoch);
    if (now > epoch) return false;
    if (now == epoch) {
      if (activity.lacks_blocks() && try_lock(activity.lock)) {
        activity.make_room(in);
        store_release(activity.lock, 0);
      }
      const block_place found = activity.take_block(epoch);
      if (found.head != nullptr) {
        place = {found.head, found.entries};
        return true;
      }
    }
    bool may_be_room = false;
    with_activity_buffer(activity, epoch, [&](device_activity_buffer& all) { may_be_room = all.make_room(in); });
    if (!may_be_room) break;
  }
  if (load(activity.epoch) <= epoch) fetch_add(activity.skipped, 1);
  return false;
}

// False if it could not be recorded.
template <class Store>
ADAPTYST_DETAIL_INLINE bool book_entry(Store& in, uint64_t epoch, activity_place& place,
                                       const activity_entry& entry) noexcept {
  if (ADAPTYST_DETAIL_UNLIKELY(place.head == nullptr || load(place.head->count) == entries_per_block) &&
      !next_place(in, epoch, place))
    return false;
  activity_block& head = *place.head;
  const uint32_t at = load(head.count);
  place.entries[at].set(entry);
  if (entry.begin_ns < load(head.min_begin_ns)) store(head.min_begin_ns, entry.begin_ns);
  if (entry.begin_ns > load(head.max_begin_ns)) store(head.max_begin_ns, entry.begin_ns);
  store_release(head.count, at + 1);
  return true;
}

}}}  // namespace adaptyst::v1::detail

#endif
