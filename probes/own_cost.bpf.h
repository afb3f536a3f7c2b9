/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * CPU time that BPF programs take from the program, for the overhead budget. For frequent programs, only some runs are
 * measured. Runs that find no memory for their data are not included.
 */
#ifndef ADAPTYST_PROBES_OWN_COST_BPF_H
#define ADAPTYST_PROBES_OWN_COST_BPF_H

#include <linux/types.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

enum { ADAPTYST_COST_ONE_OF_LOG2 = 4 };

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, uint64_t);
} own_cost SEC(".maps");

static __always_inline void add_cost(uint64_t begin_ns, uint64_t times) {
  uint32_t zero = 0;
  uint64_t* sum_ns = bpf_map_lookup_elem(&own_cost, &zero);
  if (sum_ns) __sync_fetch_and_add(sum_ns, times * (bpf_ktime_get_ns() - begin_ns));
}

/* Whether this run is measured; `what` differs between runs. */
static __always_inline int is_timed(uint64_t what) {
  return (uint32_t)what * 2654435761U >> (32 - ADAPTYST_COST_ONE_OF_LOG2) == 0;
}

static __always_inline void add_estimated_cost(uint64_t begin_ns) {
  if (is_timed(begin_ns)) add_cost(begin_ns, 1 << ADAPTYST_COST_ONE_OF_LOG2);
}

#endif
