/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Rows of call paths and how one grows, for every program that sums what it sees.
 *
 * Atomic additions, although the rows are per CPU: on a preemptible kernel another thread may run this program on the
 * same CPU in the middle of an update, and a plain store would then wipe out all that it had counted meanwhile.
 */
#ifndef ADAPTYST_PROBES_AGGREGATE_BPF_H
#define ADAPTYST_PROBES_AGGREGATE_BPF_H

#include "record.h"

/* A program with more reasons for a loss says how many there are. */
#ifndef ADAPTYST_LOSSES
#define ADAPTYST_LOSSES ADAPTYST_KERNEL_LOSSES
#endif

/* Both preallocated: a row must be there at once when a program begins with a burst of new paths, and the kernel hands
 * out memory for CPUs only slowly in this context. Hence histograms apart from rows and in pieces: a whole one would take
 * 4.7 KB of every CPU. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, ADAPTYST_KERNEL_ROWS);
  __type(key, uint64_t);
  __type(value, struct adaptyst_kernel_row);
} rows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, ADAPTYST_KERNEL_GROUPS);
  __type(key, struct adaptyst_kernel_group_key);
  __type(value, struct adaptyst_kernel_group);
} groups SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_KERNEL_ROWS);
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

static __always_inline uint64_t* bucket_of(struct adaptyst_kernel_row* row, uint64_t path, uint64_t duration_ns) {
  uint32_t bucket = adaptyst_histogram_bucket(duration_ns);
  uint32_t within = bucket % ADAPTYST_KERNEL_GROUP;
  struct adaptyst_kernel_group_key key = {path, bucket / ADAPTYST_KERNEL_GROUP};
  struct adaptyst_kernel_group* group;
  uint64_t own = row->own_group;
  if (!own) own = __sync_val_compare_and_swap(&row->own_group, 0, key.number + 1) ?: key.number + 1;
  if (own == key.number + 1) return &row->group.counts[within];
  group = bpf_map_lookup_elem(&groups, &key);
  if (!group) {
    struct adaptyst_kernel_group empty = {};
    bpf_map_update_elem(&groups, &key, &empty, BPF_NOEXIST);
    group = bpf_map_lookup_elem(&groups, &key);
    if (!group) return 0;
  }
  return &group->counts[within];
}

/* Sets a maximum; whoever preempts us here does the same, so a few tries are enough. */
static __always_inline void raise(uint64_t* maximum, uint64_t value) {
  int i;
  for (i = 0; i < 4; ++i) {
    uint64_t seen = *(volatile uint64_t*)maximum;
    if (value <= seen || __sync_val_compare_and_swap(maximum, seen, value) == seen) return;
  }
}

static __always_inline void add_to_row(struct adaptyst_kernel_row* row, uint64_t path, uint64_t duration_ns,
                                       uint64_t self_ns) {
  uint64_t* bucket = bucket_of(row, path, duration_ns);
  __sync_fetch_and_add(bucket ? bucket : &row->unbucketed, 1);
  __sync_fetch_and_add(&row->total_ns, duration_ns);
  if (duration_ns > self_ns) __sync_fetch_and_add(&row->child_ns, duration_ns - self_ns);
  raise(&row->max_ns, duration_ns);
  raise(&row->min_complement, ~duration_ns);
}

#endif
