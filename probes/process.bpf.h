/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Selects the processes with events that are summed.
 */
#ifndef ADAPTYST_PROBES_PROCESS_BPF_H
#define ADAPTYST_PROBES_PROCESS_BPF_H

#include "kernel_layout.h"

const volatile struct adaptyst_kernel_filter filter = {};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_KERNEL_PROCESSES);
  __type(key, uint32_t);
  __type(value, struct adaptyst_kernel_process);
} processes SEC(".maps");

/* The number of the process in the collector's PID namespace; 0: it is not visible there. */
static __always_inline uint32_t own_process(void) {
  struct bpf_pidns_info task;
  if (!filter.namespace_inode) return bpf_get_current_pid_tgid() >> 32;
  if (bpf_get_ns_current_pid_tgid(filter.namespace_device, filter.namespace_inode, &task, sizeof(task))) return 0;
  return task.tgid;
}

/* The group of the current process's rows; negative: it is not observed. */
static __always_inline int own_group(void) {
  struct adaptyst_kernel_process* listed;
  uint32_t process;
  if (!filter.pid && !filter.listed) return 0;
  process = own_process();
  if (!filter.listed) return process == filter.pid ? 0 : -1;
  listed = bpf_map_lookup_elem(&processes, &process);
  return listed ? (int)listed->group : -1;
}

static __always_inline int is_observed(void) { return own_group() >= 0; }

#endif
