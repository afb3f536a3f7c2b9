/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Regions from the entry and the return of functions without markers.
 *
 * An entry may lack its return: longjmp() and exceptions leave functions without a return, and the kernel omits return
 * probes that are nested too deeply. The stack pointer shows such frames. A stack grows downwards, so an open function
 * was entered at a higher address than the thread's current one; frames below have been left.
 */
#include "function_layout.h"

#define ADAPTYST_LOSSES ADAPTYST_FUNCTION_COUNTS

#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "aggregate.bpf.h"
#include "announced_threads.bpf.h"
#include "function_stack.bpf.h"
#include "marked_thread.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Nonzero: only tasks of `family` count, although a link reports those of all processes. */
const volatile uint32_t only_family = 0;

/* Whether the scheduler's programs record the context of threads. */
const volatile uint32_t with_context = 0;

/* Tasks named by the collector, and all that they have started since. Tasks instead of numbers: numbers are used again,
 * and differ between PID namespaces. */
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, uint32_t);
} family SEC(".maps");

static __always_inline int is_in_family(void) {
  return !only_family || bpf_task_storage_get(&family, bpf_get_current_task_btf(), 0, 0);
}

/* Runs for new processes and threads, before they run. */
SEC("tp_btf/sched_process_fork")
int inherit(uint64_t* arguments) {
  struct task_struct* parent = (struct task_struct*)arguments[0];
  struct task_struct* child = (struct task_struct*)arguments[1];
  if (!bpf_task_storage_get(&family, parent, 0, 0)) return 0;
  if (bpf_task_storage_get(&family, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE)) return 0;
  count_loss(ADAPTYST_FUNCTION_BEGUN); /* at least one */
  count_loss(ADAPTYST_FUNCTION_NO_MEMORY);
  return 0;
}

/* The id that the recorder in the program makes, for the host's CPU. */
static __always_inline uint64_t path_id(uint64_t parent, uint64_t site) {
  return mix(mix(parent ^ 0xA0761D6478BD642FU) ^ site);
}

/* The stack pointer at the entry. */
static __always_inline uint64_t entry_stack(struct pt_regs* registers, int is_return) {
#if defined(__TARGET_ARCH_x86)
  return PT_REGS_SP(registers) - (is_return ? sizeof(uint64_t) : 0); /* the return address has been popped */
#else
  return PT_REGS_SP(registers);
#endif
}

/* Whether an open function jumped to this function: then the return address is in the kernel's page that catches
 * returns, and not in a caller. */
static __always_inline int is_tail_call(struct pt_regs* registers) {
  uint64_t to = 0;
#if defined(__TARGET_ARCH_x86)
  if (bpf_probe_read_user(&to, sizeof(to), (const void*)PT_REGS_SP(registers))) return 0;
#else
  to = ((const struct user_pt_regs*)registers)->regs[30];
#endif
  return !(to & 0xfff);
}

/* The next three functions are rarely needed. They are global, so that the verifier checks each of them once: this
 * reduces the load time to a sixth. */

/* Drops the innermost frame if its stack pointer is below `limit`, unless it is the frame of `function` directly below.
 * 0: not dropped. */
__noinline int drop_frame(uint64_t limit, uint64_t function) {
  struct adaptyst_function_stack* stack = own_stack(0);
  uint64_t depth = stack ? stack->depth : 0;
  struct adaptyst_function_frame* frame;
  if (!stack || !depth) return 0;
  frame = frame_at(stack, depth);
  if (frame->stack >= limit || (frame->function == function && frame->stack + 1 == limit)) return 0;
  /* Time that has been counted below this frame must not count as time of the frame above. */
  if (depth > 1) frame_at(stack, depth - 1)->child_ns += frame->child_ns;
  stack->depth = depth - 1;
  count_loss(ADAPTYST_FUNCTION_UNMATCHED);
  return 1;
}

/* Drops the frames with a stack pointer below `limit`, up to the frame of `function` directly below it. */
__noinline int drop_left(uint64_t limit, uint64_t function) {
  int i;
  for (i = 0; i < ADAPTYST_FUNCTION_DEPTH && drop_frame(limit, function); ++i) {}
  return 0;
}

/* As make_row() in region.bpf.c, for functions. */
__noinline int make_row(uint64_t path) {
  if (!paths_are_full && !bpf_map_lookup_elem(&paths, &path)) name_open_functions(path);
  return place_row(path, 0);
}

/* The thread's stack, emptied if it belongs to the program before exec(). */
static __always_inline struct adaptyst_function_stack* find_program_stack(void) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct adaptyst_function_stack* stack = own_stack(BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (stack && stack->image != program_image(task)) {
    if (stack->depth) count_losses(ADAPTYST_FUNCTION_UNMATCHED, stack->depth);
    stack->depth = 0;
    stack->recorder = 0;
    stack->owners = 0;
    stack->image = program_image(task);
  }
  return stack;
}

/* A thread may never reach a marker. */
static __always_inline void announce_without_markers(void) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct adaptyst_context_thread* thread = bpf_task_storage_get(&threads, task, 0, 0);
  if (thread && thread->image == program_image(task)) return;
  thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) return;
  thread->recorder = 0;
  thread->major_faults = task->maj_flt;
  thread->left_ns = 0;
  thread->image = program_image(task);
}

/* 1: a return probe is not needed. */
static __always_inline int enter(struct pt_regs* registers) {
  struct adaptyst_function_stack* stack;
  struct adaptyst_function_frame* frame;
  struct adaptyst_function_frame* above;
  uint64_t here = entry_stack(registers, 0);
  uint64_t depth;
  if (!is_in_family()) return 1;
  count_loss(ADAPTYST_FUNCTION_BEGUN);
  stack = find_program_stack();
  if (!stack) {
    count_loss(ADAPTYST_FUNCTION_NO_MEMORY);
    return 1;
  }
  if (with_context) announce_without_markers();
  if (stack->depth && frame_at(stack, stack->depth)->stack < here) drop_left(here, 0);
  if (stack->depth && frame_at(stack, stack->depth)->stack == here && !is_tail_call(registers)) drop_left(here + 1, 0);
  depth = stack->depth;
  if (depth >= ADAPTYST_FUNCTION_DEPTH) {
    count_loss(ADAPTYST_FUNCTION_TOO_DEEP);
    return 1;
  }
  frame = frame_at(stack, depth + 1);
  above = depth ? frame_at(stack, depth) : 0;
  frame->function = bpf_get_attach_cookie(registers);
  find_marker(here);
  frame->marker = stack->marker;
  frame->markers = stack->marker ? stack->marker_depth + 1 : 0;
  if (frame->markers > (above ? above->markers : 0))
    frame->parent = path_among(above ? above->path : 0, stack->marker_path);
  else frame->parent = above ? above->path : 0;
  frame->path = path_id(frame->parent, frame->function);
  frame->stack = here;
  frame->child_ns = 0;
  stack->depth = depth + 1;
  frame->entry_ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int leave(struct pt_regs* registers) {
  uint64_t now = bpf_ktime_get_ns();
  uint64_t here = entry_stack(registers, 1);
  uint64_t function = bpf_get_attach_cookie(registers);
  struct adaptyst_function_stack* stack = own_stack(0);
  struct adaptyst_function_frame* frame;
  struct adaptyst_kernel_row* row;
  uint64_t duration_ns, path;
  int processor = bpf_get_smp_processor_id();
  if (!stack) goto orphan;
  frame = frame_at(stack, stack->depth);
  if (frame->stack != here || frame->function != function) {
    drop_left(here + 1, function);
    frame = frame_at(stack, stack->depth);
  }
  if (!stack->depth || frame->stack != here || frame->function != function) goto orphan;
  duration_ns = now - frame->entry_ns;
  path = frame->path;
  row = part_at(path, processor, 0);
  if (!row) {
    processor = make_row(path);
    if (processor >= 0) row = part_at(path, processor, 0);
  }
  if (row) add_to_row(row, path, processor, duration_ns, duration_ns - frame->child_ns);
  --stack->depth;
  if (stack->depth) frame_at(stack, stack->depth)->child_ns += duration_ns;
  return 0;
orphan:
  count_loss(ADAPTYST_FUNCTION_ORPHANS);
  return 0;
}

/* At a function's entry, the instruction pointer is at the probe; at the return, it is elsewhere. The kernel's function
 * bpf_session_is_return() has an argument on some kernels and none on others, and an object can only name one form. */
static __always_inline int is_return(struct pt_regs* registers) {
  return PT_REGS_IP(registers) != bpf_get_func_ip(registers);
}

/* Linux 6.13: one probe for both, which can decline the return at the entry. */
SEC("uprobe")
int function_session(struct pt_regs* registers) {
  if (is_return(registers)) return leave(registers);
  return enter(registers);
}

SEC("uprobe")
int function_entry(struct pt_regs* registers) {
  enter(registers);
  return 0;
}

SEC("uprobe")
int function_return(struct pt_regs* registers) { return leave(registers); }
