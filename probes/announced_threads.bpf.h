/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Threads with context: those that have announced their recorder, or entered an observed function.
 */
#ifndef ADAPTYST_PROBES_ANNOUNCED_THREADS_BPF_H
#define ADAPTYST_PROBES_ANNOUNCED_THREADS_BPF_H

#include "context_layout.h"

/* Stored with the thread, so that entries end with it. */
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct adaptyst_context_thread);
} threads SEC(".maps");

#endif
