/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Decides in the kernel whether a thread switch is recorded.
 */
#ifndef ADAPTYST_PROBES_SWITCH_CHOICE_BPF_H
#define ADAPTYST_PROBES_SWITCH_CHOICE_BPF_H

#include "switch_sampling.h"
#include "thread.bpf.h"

#if defined(__TARGET_ARCH_x86)
/* The names in the kernel's type information. */
struct pt_regs___of_kernel {
  unsigned long orig_ax, sp;
} __attribute__((preserve_access_index));
#endif

/* One of 2^k thread switches is recorded; the collector sets k. */
uint32_t switch_step = 0;

/* The number of the system call in which the task is; negative, as a signed number, in an interrupt or a page fault, and
 * where the platform hides it. */
static __always_inline uint64_t current_call(struct task_struct* task) {
#if defined(__TARGET_ARCH_x86)
  return ((struct pt_regs___of_kernel*)bpf_task_pt_regs(task))->orig_ax;
#else
  return ~0ULL;
#endif
}

/* The place in the program from which a blocked task has entered the kernel. */
static __always_inline uint32_t place_of_wait(struct task_struct* task) {
#if defined(__TARGET_ARCH_x86)
  struct pt_regs___of_kernel* registers = (struct pt_regs___of_kernel*)bpf_task_pt_regs(task);
  return ((uint32_t)(registers->sp >> 3) ^ (uint32_t)registers->orig_ax << 16) * 2654435761U >> 16;
#else
  return 1;
#endif
}

/* The number of switches for which this switch away from the core counts; 0: it is not recorded. Waits for a disk in a
 * page fault of the program's code are always recorded: major faults belong to the region of such a wait. */
static __always_inline uint32_t weigh_switch(struct adaptyst_switch_places* places, struct task_struct* task,
                                             int can_run) {
  enum { COARSE_LOG2 = 2 /* 4 to 40 ms, by the kernel's HZ */ };
  uint32_t step = *(volatile uint32_t*)&switch_step;
  if (!step) return 1;
  if (adaptyst_is_first_switch(places, can_run ? 0 : place_of_wait(task), bpf_jiffies64() >> COARSE_LOG2)) return 1;
  if (!can_run && BPF_CORE_READ_BITFIELD(task, in_iowait) && current_call(task) >> 63) return 1;
  return adaptyst_switch_weight(bpf_get_prandom_u32(), step);
}

#endif
