/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Threads that have announced their recorder, and which region such a thread is in.
 */
#ifndef ADAPTYST_PROBES_THREAD_BPF_H
#define ADAPTYST_PROBES_THREAD_BPF_H

#include <bpf/bpf_core_read.h>

#include "context_record.h"

/* What is used of the kernel's own structure; the offsets are those of the kernel that runs. */
struct task_struct {
  struct mm_struct* mm;
  unsigned long maj_flt;
  int pagefault_disabled;
  unsigned in_iowait : 1;
} __attribute__((preserve_access_index));

/* With the thread, so that they end with it. */
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct adaptyst_context_thread);
} threads SEC(".maps");

const volatile struct adaptyst_recorder_layout layout = {};

/* What is known of a task; null for one that has not announced itself, or runs another program since. */
static __always_inline struct adaptyst_context_thread* announced(struct task_struct* task) {
  struct adaptyst_context_thread* thread = bpf_task_storage_get(&threads, task, 0, 0);
  return thread && thread->image == (uint64_t)task->mm ? thread : 0;
}

struct open_frames {
  uint32_t depth, base; /* those up to the base were begun for an earlier collector */
};

/* The id of the call path that the current thread is in, 0 outside all regions; 1: its recorder cannot be read. The
 * innermost frame counts from its timestamp on: before, the thread's time is still that of the region around it. */
static __always_inline uint64_t region_of_current(const struct adaptyst_context_thread* thread) {
  struct open_frames open;
  int i;
  if (bpf_probe_read_user(&open, sizeof(open), (const void*)(thread->recorder + layout.depth))) return 1;
  for (i = 0; i < 2 && open.depth > open.base; ++i, --open.depth) {
    uint64_t frame = thread->recorder + layout.frames + (uint64_t)open.depth * layout.frame_bytes;
    uint64_t begin, path, id;
    if (bpf_probe_read_user(&begin, sizeof(begin), (const void*)(frame + layout.begin))) return 1;
    if (!begin) continue;
    if (bpf_probe_read_user(&path, sizeof(path), (const void*)(frame + layout.path)) ||
        bpf_probe_read_user(&id, sizeof(id), &((const struct adaptyst_path*)path)->id))
      return 1;
    return id;
  }
  return 0;
}

#endif
