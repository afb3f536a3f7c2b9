/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Which marker a thread is in, read from its recorder in the program's memory.
 */
#ifndef ADAPTYST_PROBES_MARKED_THREAD_BPF_H
#define ADAPTYST_PROBES_MARKED_THREAD_BPF_H

#include <bpf/bpf_core_read.h>

#include "function_stack.bpf.h"
#include "process.bpf.h"

/* What is used of the kernel's own structures; the offsets are those of the kernel that runs. */
struct upid {
  int nr;
  struct pid_namespace* ns;
} __attribute__((preserve_access_index));
struct pid {
  unsigned int level;
  struct upid numbers[1];
} __attribute__((preserve_access_index));
struct task_struct {
  struct mm_struct* mm;
  struct pid* thread_pid;
} __attribute__((preserve_access_index));

const volatile struct adaptyst_recorder_layout layout = {};

/* What gettid() tells the thread itself, whichever PID namespace it is in. */
static __always_inline uint32_t own_thread(struct task_struct* task) {
  struct pid* numbers = task->thread_pid;
  struct upid number = {};
  bpf_core_read(&number, sizeof(number), (char*)&numbers->numbers + numbers->level * sizeof(number));
  return number.nr;
}

/* Looks through the recorders of a process for that of this thread. */
__noinline int find_recorder(uint64_t process) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct adaptyst_function_stack* stack = own_stack(0);
  uint32_t self = own_thread(task);
  uint64_t recorder = 0;
  int i;
  if (!stack || bpf_probe_read_user(&recorder, sizeof(recorder), (const void*)(process + layout.recorders))) return 0;
  for (i = 0; i < 1024 && recorder; ++i) {
    uint32_t thread;
    if (bpf_probe_read_user(&thread, sizeof(thread), (const void*)(recorder + layout.thread))) return 0;
    if (thread == self) {
      stack->recorder = recorder;
      return 0;
    }
    if (bpf_probe_read_user(&recorder, sizeof(recorder), (const void*)(recorder + layout.next))) return 0;
  }
  return 0;
}

/* The thread's recorder; 0: it has none, or none is known. Looked for again only if one has got an owner since. */
static __always_inline uint64_t own_recorder(struct adaptyst_function_stack* stack) {
  uint32_t number;
  uint64_t* object;
  uint64_t process;
  uint32_t owners;
  if (stack->recorder) return stack->recorder;
  number = own_process();
  object = bpf_map_lookup_elem(&processes, &number);
  if (!object || !*object ||
      bpf_probe_read_user(&process, sizeof(process), &((const struct adaptyst_object*)*object)->process) || !process ||
      bpf_probe_read_user(&owners, sizeof(owners), (const void*)(process + layout.owners)) || owners == stack->owners)
    return 0;
  stack->owners = owners;
  find_recorder(process);
  return stack->recorder;
}

/* The path of the innermost marker that is open around a function with this stack pointer: its address, 0 if there is
 * none. Markers below the stack pointer have been left by longjmp(), which the recorder has not noticed yet. */
static __always_inline uint64_t marker_around(struct adaptyst_function_stack* stack, uint64_t here,
                                              struct adaptyst_path* path) {
  uint64_t recorder = own_recorder(stack);
  uint32_t depth;
  int i;
  if (!recorder || bpf_probe_read_user(&depth, sizeof(depth), (const void*)(recorder + layout.depth))) return 0;
  for (i = 0; i < 16 && depth; ++i, --depth) {
    uint64_t frame = recorder + layout.frames + (uint64_t)depth * layout.frame_bytes;
    uint64_t address;
    uint64_t marker_stack;
    if (bpf_probe_read_user(&marker_stack, sizeof(marker_stack), (const void*)(frame + layout.stack))) return 0;
    if (marker_stack < here) continue;
    if (bpf_probe_read_user(&address, sizeof(address), (const void*)(frame + layout.path)) ||
        bpf_probe_read_user(path, sizeof(*path), (const void*)address))
      return 0;
    return address;
  }
  return 0;
}

#endif
