/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Rows of call paths and their updates, for every program that sums events.
 *
 * Additions are atomic, although each CPU has separate rows: on a preemptible kernel, another thread may run this
 * program on the same CPU in the middle of an update, and a plain store would then delete its counts. CPUs may
 * therefore also share a row if there is no room for separate ones: that is as exact, and slower.
 */
#ifndef ADAPTYST_PROBES_AGGREGATE_BPF_H
#define ADAPTYST_PROBES_AGGREGATE_BPF_H

#include "kernel_layout.h"

/* A program with further loss reasons defines their number. */
#ifndef ADAPTYST_LOSSES
#define ADAPTYST_LOSSES ADAPTYST_KERNEL_LOSSES
#endif

/* A part is made when it is first needed, so unused CPUs of a large machine take no memory. Not a per-CPU map: for a
 * burst of new paths, the kernel has no memory for it available. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_KERNEL_PARTS);
  __type(key, struct adaptyst_kernel_row_key);
  __type(value, struct adaptyst_kernel_row);
} rows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_KERNEL_PATHS);
  __type(key, uint64_t);
  __type(value, struct adaptyst_kernel_path);
} paths SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, ADAPTYST_LOSSES);
  __type(key, uint32_t);
  __type(value, uint64_t);
} losses SEC(".maps");

static __always_inline void count_losses(uint32_t why, uint64_t events) {
  uint64_t* count = bpf_map_lookup_elem(&losses, &why);
  if (count) __sync_fetch_and_add(count, events);
}

static __always_inline void count_loss(uint32_t why) { count_losses(why, 1); }

/* The limit of unnecessary parts; the collector sets it with the size of the table. */
const volatile uint32_t parts_limit = ADAPTYST_KERNEL_PARTS - ADAPTYST_KERNEL_PARTS_RESERVED;

/* Number of parts that are not strictly necessary: all but the shared row of a path. */
uint32_t parts_made = 0;

/* Whether a path was refused for lack of room: then an unknown path has no row, and needs no lookup. */
uint32_t paths_are_full = 0;

static __always_inline struct adaptyst_kernel_row* part_at(uint64_t path, uint32_t place, uint32_t part) {
  struct adaptyst_kernel_row_key key = {path, place + ADAPTYST_KERNEL_PART * part};
  return bpf_map_lookup_elem(&rows, &key);
}

/* Global, like the functions below, so that the verifier checks it once. 0: the part exists; else 1 + the loss
 * reason. */
__noinline int make_part(uint64_t path, uint32_t place, uint32_t part) {
  struct adaptyst_kernel_row_key key = {path, place + ADAPTYST_KERNEL_PART * part};
  struct adaptyst_kernel_row empty = {};
  int is_needed = place == ADAPTYST_KERNEL_SHARED && !part;
  long failed;
  if (!is_needed && parts_made >= parts_limit) return 1 + ADAPTYST_KERNEL_ROWS_FULL;
  if (bpf_map_lookup_elem(&rows, &key)) return 0;
  failed = bpf_map_update_elem(&rows, &key, &empty, BPF_NOEXIST);
  if (!failed && !is_needed) __sync_fetch_and_add(&parts_made, 1);
  if (!failed || failed == -17 /* EEXIST: another thread was faster */) return 0;
  if (failed == -7 /* E2BIG */) return 1 + ADAPTYST_KERNEL_ROWS_FULL;
  return failed == -12 /* ENOMEM */ ? 1 + ADAPTYST_KERNEL_NO_MEMORY : 1 + ADAPTYST_KERNEL_BUSY;
}

/* Finds a place for the row of a path after the attempt to name it: the row of this CPU in the group, or the row
 * shared by all groups. Negative: no room; the loss has been counted. */
__noinline int place_row(uint64_t path, uint32_t group) {
  uint32_t here = group + bpf_get_smp_processor_id();
  int why;
  if (paths_are_full && !bpf_map_lookup_elem(&paths, &path)) {
    count_loss(ADAPTYST_KERNEL_ROWS_FULL);
    return -1;
  }
  if (!make_part(path, here, 0)) return here;
  why = make_part(path, ADAPTYST_KERNEL_SHARED, 0);
  if (!why) return ADAPTYST_KERNEL_SHARED;
  count_loss(why - 1);
  return -1;
}

/* Counts in one place of a part; 0: the place belongs to another bucket. */
static __always_inline int count_at(uint64_t* place, uint64_t bucket) {
  uint64_t number = bucket + 1;
  uint64_t found = *(volatile uint64_t*)place;
  if (!found) {
    found = __sync_val_compare_and_swap(place, 0, (number << ADAPTYST_KERNEL_COUNT_BITS) + 1);
    if (!found) return 1;
  }
  if (found >> ADAPTYST_KERNEL_COUNT_BITS != number) return 0;
  __sync_fetch_and_add(place, 1);
  return 1;
}

/* Counts in other places, or in a part for this group of buckets. Not in the very next place: events often fall into
 * neighbouring buckets. */
__noinline int count_elsewhere(struct adaptyst_kernel_row* row, uint64_t path, uint32_t place, uint32_t bucket) {
  uint32_t number = bucket / ADAPTYST_KERNEL_BUCKETS + 1;
  struct adaptyst_kernel_row* part;
  int i;
  if (!row) return 0;
  for (i = 1; i < ADAPTYST_KERNEL_BUCKETS; ++i)
    if (count_at(&row->buckets[(bucket + 7 * i) % ADAPTYST_KERNEL_BUCKETS], bucket)) return 0;
  part = part_at(path, place, number);
  if (!part && !make_part(path, place, number)) part = part_at(path, place, number);
  if (!part || !count_at(&part->buckets[bucket % ADAPTYST_KERNEL_BUCKETS], bucket))
    __sync_fetch_and_add(&row->unbucketed, 1);
  return 0;
}

/* Sets a maximum; a faster CPU does the same, so a few attempts are enough. */
static __always_inline void raise(uint64_t* maximum, uint64_t value) {
  int i;
  for (i = 0; i < 8; ++i) {
    uint64_t seen = *(volatile uint64_t*)maximum;
    if (value <= seen || __sync_val_compare_and_swap(maximum, seen, value) == seen) return;
  }
}

static __always_inline void add_to_row(struct adaptyst_kernel_row* row, uint64_t path, uint32_t place,
                                       uint64_t duration_ns, uint64_t self_ns) {
  uint32_t bucket = adaptyst_histogram_bucket(duration_ns);
  if (!count_at(&row->buckets[bucket % ADAPTYST_KERNEL_BUCKETS], bucket)) count_elsewhere(row, path, place, bucket);
  __sync_fetch_and_add(&row->total_ns, duration_ns);
  if (duration_ns > self_ns) __sync_fetch_and_add(&row->child_ns, duration_ns - self_ns);
  raise(&row->max_ns, duration_ns);
  raise(&row->min_complement, ~duration_ns);
}

#endif
