/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Threads that have announced their recorder, and the current region of such a thread.
 */
#ifndef ADAPTYST_PROBES_THREAD_BPF_H
#define ADAPTYST_PROBES_THREAD_BPF_H

#include <bpf/bpf_core_read.h>

#include "announced_threads.bpf.h"
#include "open_functions.bpf.h"
#include "path_id.bpf.h"

/* The used parts of the kernel's structure; libbpf inserts the offsets of the running kernel. */
struct task_struct {
  unsigned long min_flt;
  unsigned long maj_flt;
  int pagefault_disabled;
  unsigned in_iowait : 1;
} __attribute__((preserve_access_index));

const volatile struct adaptyst_recorder_layout layout = {};

/* Whether functions without markers are regions as well. */
const volatile uint32_t among_functions = 0;

/* The entry of a task; null if it has not announced itself, or now runs another program. */
static __always_inline struct adaptyst_context_thread* announced(struct task_struct* task) {
  struct adaptyst_context_thread* thread = bpf_task_storage_get(&threads, task, 0, 0);
  return thread && thread->image == program_image(task) ? thread : 0;
}

struct open_frames {
  uint32_t depth, base; /* frames up to the base were begun for an earlier collector */
};

/* The part of a frame from layout.begin on. */
struct frame_start {
  uint64_t begin, code, path;
};

/* Reads the path of the current thread's innermost marker; all zeros outside markers. Nonzero: its recorder cannot be
 * read. A frame counts from its timestamp on: before, the time belongs to the region around it. */
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

/* The end of the current thread's stack when it entered the kernel; 0: unknown. */
static __always_inline uint64_t find_stack_end(void) {
  uint64_t end = 0;
#if defined(__TARGET_ARCH_x86)
  struct pt_regs* registers = (struct pt_regs*)bpf_task_pt_regs(bpf_get_current_task_btf());
  bpf_probe_read_kernel(&end, sizeof(end), &registers->rsp);
#endif
  return end;
}

/* The same if functions may be open around the marker, or in it. longjmp() or an exception has left functions below the
 * end of the stack. */
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

/* The id of the current thread's call path, 0 outside all regions; 1: its recorder cannot be read. */
static __always_inline uint64_t current_region(const struct adaptyst_context_thread* thread) {
  struct adaptyst_path path;
  if (innermost_marker(thread, &path)) return 1;
  return among_functions ? path_with_functions(&path) : path.id;
}

#endif
