/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Threads that have announced their recorder, and which region such a thread is in.
 */
#ifndef ADAPTYST_PROBES_THREAD_BPF_H
#define ADAPTYST_PROBES_THREAD_BPF_H

#include <bpf/bpf_core_read.h>

#include "announced_threads.bpf.h"
#include "open_functions.bpf.h"
#include "path_id.bpf.h"

/* What is used of the kernel's own structure; the offsets are those of the kernel that runs. */
struct task_struct {
  struct mm_struct* mm;
  unsigned long maj_flt;
  int pagefault_disabled;
  unsigned in_iowait : 1;
} __attribute__((preserve_access_index));

const volatile struct adaptyst_recorder_layout layout = {};

/* Whether functions that carry no markers are regions as well. */
const volatile uint32_t among_functions = 0;

/* What is known of a task; null for one that has not announced itself, or runs another program since. */
static __always_inline struct adaptyst_context_thread* announced(struct task_struct* task) {
  struct adaptyst_context_thread* thread = bpf_task_storage_get(&threads, task, 0, 0);
  return thread && thread->image == (uint64_t)task->mm ? thread : 0;
}

struct open_frames {
  uint32_t depth, base; /* those up to the base were begun for an earlier collector */
};

/* Of a frame, from layout.begin on. */
struct frame_start {
  uint64_t begin, code, path;
};

/* Reads the path of the innermost marker that the current thread is in; all zeros outside. Nonzero: its recorder cannot
 * be read. A frame counts from its timestamp on: before, the thread's time is still that of the region around it. */
static __always_inline long innermost_marker(const struct adaptyst_context_thread* thread, struct adaptyst_path* path) {
  struct open_frames open;
  int i;
  __builtin_memset(path, 0, sizeof(*path));
  if (!thread->recorder) return 0;
  if (bpf_probe_read_user(&open, sizeof(open), (const void*)(thread->recorder + layout.depth))) return 1;
  for (i = 0; i < 2 && open.depth > open.base; ++i, --open.depth) {
    uint64_t frame = thread->recorder + layout.frames + (uint64_t)open.depth * layout.frame_bytes;
    struct frame_start start;
    if (bpf_probe_read_user(&start, sizeof(start), (const void*)(frame + layout.begin))) return 1;
    if (!start.begin) continue;
    return bpf_probe_read_user(path, sizeof(*path), (const void*)start.path);
  }
  return 0;
}

/* Where the current thread's stack ends, as it was when it entered the kernel; 0: not known. */
static __always_inline uint64_t find_stack_end(void) {
  uint64_t end = 0;
#if defined(__TARGET_ARCH_x86)
  struct pt_regs* registers = (struct pt_regs*)bpf_task_pt_regs(bpf_get_current_task_btf());
  bpf_probe_read_kernel(&end, sizeof(end), &registers->rsp);
#endif
  return end;
}

/* The same where functions may be open around the marker, or in it. Those below the end of the stack have been left by
 * longjmp() or an exception. */
static __always_inline uint64_t path_with_functions(const struct adaptyst_path* path) {
  struct adaptyst_function_stack* stack = own_stack(0);
  uint64_t markers = path->id ? path->depth + 1 : 0;
  uint64_t end = find_stack_end();
  int i;
  if (!stack) return path->id;
  for (i = 0; i < ADAPTYST_FUNCTION_DEPTH && i < stack->depth; ++i) {
    struct adaptyst_function_frame* frame = frame_at(stack, stack->depth - i);
    if (frame->stack < end) continue;
    if (frame->markers == markers) return frame->path;
    if (frame->markers < markers) return path_among(frame->path, path->id);
  }
  return path->id;
}

/* The id of the call path that the current thread is in, 0 outside all regions; 1: its recorder cannot be read. */
static __always_inline uint64_t current_region(const struct adaptyst_context_thread* thread) {
  struct adaptyst_path path;
  if (innermost_marker(thread, &path)) return 1;
  return among_functions ? path_with_functions(&path) : path.id;
}

#endif
