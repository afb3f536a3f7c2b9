/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Counters of the processor, per call path. Each counter interrupts after a fixed number of events. These events are
 * booked on the thread's region at that time. On average, this is correct for regions of any length.
 */
#include "counter_layout.h"

#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include "own_cost.bpf.h"
#include "thread.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, ADAPTYST_CONTEXT_ROWS);
  __type(key, uint64_t);
  __type(value, struct adaptyst_counter_row);
} counters SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, uint64_t);
} lost SEC(".maps");

/* The cookie is the index of the counter. */
SEC("perf_event")
int overflowed(struct bpf_perf_event_data* at) {
  struct adaptyst_context_thread* thread = announced(bpf_get_current_task_btf());
  uint64_t which = bpf_get_attach_cookie(at);
  struct adaptyst_counter_row* row = 0;
  uint64_t path, begin_ns;
  if (!thread || which >= ADAPTYST_COUNTERS) return 0;
  begin_ns = bpf_ktime_get_ns();
  path = current_region(thread);
  if (path != 1) row = bpf_map_lookup_elem(&counters, &path);
  if (path != 1 && !row) {
    struct adaptyst_counter_row empty = {};
    bpf_map_update_elem(&counters, &path, &empty, BPF_NOEXIST);
    row = bpf_map_lookup_elem(&counters, &path);
  }
  if (row) {
    __sync_fetch_and_add(&row->events[which], at->sample_period);
  } else {
    uint32_t zero = 0;
    uint64_t* count = bpf_map_lookup_elem(&lost, &zero);
    if (count) __sync_fetch_and_add(count, 1);
  }
  add_cost(begin_ns, 1);
  return 0;
}
