/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * The open functions without markers of a thread.
 */
#ifndef ADAPTYST_PROBES_OPEN_FUNCTIONS_BPF_H
#define ADAPTYST_PROBES_OPEN_FUNCTIONS_BPF_H

#include "function_layout.h"

/* Stored with the thread, so that entries end with it. */
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct adaptyst_function_stack);
} stacks SEC(".maps");

static __always_inline struct adaptyst_function_stack* own_stack(uint64_t flags) {
  return bpf_task_storage_get(&stacks, bpf_get_current_task_btf(), 0, flags);
}

static __always_inline struct adaptyst_function_frame* frame_at(struct adaptyst_function_stack* stack, uint64_t depth) {
  return &stack->frames[(depth - 1) % ADAPTYST_FUNCTION_DEPTH];
}

#endif
