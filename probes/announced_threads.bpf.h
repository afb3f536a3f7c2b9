/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Threads with context: those that have announced their recorder, or entered an observed function.
 */
#ifndef ADAPTYST_PROBES_ANNOUNCED_THREADS_BPF_H
#define ADAPTYST_PROBES_ANNOUNCED_THREADS_BPF_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "context_layout.h"

/* Stored with the thread, so that entries end with it. */
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct adaptyst_context_thread);
} threads SEC(".maps");

struct task_struct___of_program {
  unsigned flags;
  unsigned in_execve : 1;
  uint64_t self_exec_id;
} __attribute__((preserve_access_index));

/* Identifies the program that a task runs: different after exec(); 0: the task ends, or is in exec(). Not the address of its
 * memory: for each pointer that is read from a task, the verifier searches all types of the kernel. */
static __always_inline uint64_t program_image(struct task_struct* task) {
  enum { EXITING = 4 /* PF_EXITING */ };
  const struct task_struct___of_program* of = (const struct task_struct___of_program*)task;
  if (of->flags & EXITING) return 0;
  if (bpf_core_field_exists(of->in_execve) && BPF_CORE_READ_BITFIELD(of, in_execve)) return 0;
  return of->self_exec_id;
}

#endif
