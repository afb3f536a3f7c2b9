/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * The current marker of a thread, read from its recorder in the program's memory.
 */
#ifndef ADAPTYST_PROBES_MARKED_THREAD_BPF_H
#define ADAPTYST_PROBES_MARKED_THREAD_BPF_H

#include <bpf/bpf_core_read.h>

#include "function_stack.bpf.h"
#include "process.bpf.h"
#include "recorder_layout.h"

/* The used parts of the kernel's structures; libbpf inserts the offsets of the running kernel. */
struct upid {
  int nr;
  struct pid_namespace* ns;
} __attribute__((preserve_access_index));
struct pid {
  unsigned int level;
  struct upid numbers[1];
} __attribute__((preserve_access_index));
struct task_struct {
  struct pid* thread_pid;
  unsigned long maj_flt;
} __attribute__((preserve_access_index));

const volatile struct adaptyst_recorder_layout layout = {};

/* The result of gettid() in the thread, in any PID namespace. */
static __always_inline uint32_t own_thread(struct task_struct* task) {
  struct pid* numbers = task->thread_pid;
  struct upid number = {};
  bpf_core_read(&number, sizeof(number), (char*)&numbers->numbers + numbers->level * sizeof(number));
  return number.nr;
}

struct recorder_search {
  uint64_t at;
  uint64_t found;
  uint32_t thread;
};

static long is_not_ours(uint64_t step, struct recorder_search* search) {
  uint32_t thread;
  if (!search->at || bpf_probe_read_user(&thread, sizeof(thread), (const void*)(search->at + layout.thread))) return 1;
  if (thread == search->thread) {
    search->found = search->at;
    return 1;
  }
  return bpf_probe_read_user(&search->at, sizeof(search->at), (const void*)(search->at + layout.next)) ? 1 : 0;
}

/* Searches the recorders of a process for that of this thread. */
static __always_inline uint64_t find_recorder(uint64_t process) {
  struct recorder_search search = {};
  search.thread = own_thread(bpf_get_current_task_btf());
  if (bpf_probe_read_user(&search.at, sizeof(search.at), (const void*)(process + layout.recorders))) return 0;
  bpf_loop(1 << 16, is_not_ours, &search, 0);
  return search.found;
}

/* The state of a process, if it has the expected layout; else 0. */
static __always_inline uint64_t find_state(const struct adaptyst_kernel_process* process) {
  uint64_t state = process->state;
  uint64_t found;
  if (!state && process->object &&
      bpf_probe_read_user(&state, sizeof(state), &((const struct adaptyst_object*)process->object)->process))
    return 0;
  if (!state || bpf_probe_read_user(&found, sizeof(found), (const void*)(state + layout.layout))) return 0;
  return found == layout.expected ? state : 0;
}

/* The thread's recorder; 0: none, or unknown. Searched again only if a recorder has got an owner since. */
static __always_inline uint64_t own_recorder(struct adaptyst_function_stack* stack) {
  uint32_t number;
  struct adaptyst_kernel_process* process;
  uint64_t state;
  uint32_t owners;
  if (stack->recorder) return stack->recorder;
  number = own_process();
  process = bpf_map_lookup_elem(&processes, &number);
  state = process ? find_state(process) : 0;
  if (!state || bpf_probe_read_user(&owners, sizeof(owners), (const void*)(state + layout.owners)) ||
      owners == stack->owners)
    return 0;
  stack->owners = owners;
  return stack->recorder = find_recorder(state);
}

/* Finds the innermost open marker around a function with this stack pointer. longjmp() has left markers below the stack
 * pointer, which the recorder has not noticed yet. */
__noinline int find_marker(uint64_t here) {
  struct adaptyst_function_stack* stack = own_stack(0);
  uint64_t recorder;
  uint32_t depth;
  int i;
  if (!stack) return 0;
  stack->marker = 0;
  recorder = own_recorder(stack);
  if (!recorder || bpf_probe_read_user(&depth, sizeof(depth), (const void*)(recorder + layout.depth))) return 0;
  for (i = 0; i < 16 && depth; ++i, --depth) {
    uint64_t frame = recorder + layout.frames + (uint64_t)depth * layout.frame_bytes;
    struct adaptyst_path path;
    uint64_t marker_stack;
    uint64_t address;
    if (bpf_probe_read_user(&marker_stack, sizeof(marker_stack), (const void*)(frame + layout.stack))) return 0;
    if (marker_stack < here) continue;
    if (bpf_probe_read_user(&address, sizeof(address), (const void*)(frame + layout.path)) ||
        bpf_probe_read_user(&path, sizeof(path), (const void*)address))
      return 0;
    stack->marker = address;
    stack->marker_path = path.id;
    stack->marker_depth = path.depth;
    return 0;
  }
  return 0;
}

#endif
