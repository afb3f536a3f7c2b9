/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Effects of the scheduler and the memory management on threads with markers, summed per call path, without a trap per
 * region.
 *
 * Only the time off the core is booked, on the region in which the thread left the core: the thread stays in that
 * region until it is back. Time on a core spans regions, and follows: wall time minus waiting minus blocked time.
 */
#include "context_layout.h"

#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "own_cost.bpf.h"
#include "process.bpf.h"
#include "switch_choice.bpf.h"
#include "thread.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Why a system call blocks, by its number. */
const volatile uint8_t reasons[ADAPTYST_CONTEXT_SYSCALLS] = {};

/* Memory for rows on all CPUs takes long to allocate. The first rows are allocated at the start, since the kernel may
 * have no memory at hand for a burst of paths; more rows than most programs need. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, ADAPTYST_CONTEXT_FIRST_ROWS);
  __type(key, uint64_t);
  __type(value, struct adaptyst_context_row);
} context SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_CONTEXT_ROWS - ADAPTYST_CONTEXT_FIRST_ROWS);
  __type(key, uint64_t);
  __type(value, struct adaptyst_context_row);
} more_context SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, ADAPTYST_CONTEXT_COUNTS);
  __type(key, uint32_t);
  __type(value, uint64_t);
} counts SEC(".maps");

/* For the collector, which finds the rows of threads without known context with these. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_CONTEXT_RECORDERS);
  __type(key, struct adaptyst_announced_recorder);
  __type(value, uint32_t);
} recorders SEC(".maps");

/* One of 2^k page faults is recorded, at random, and counts 2^k times; the collector sets k. */
uint32_t fault_step = 0;

/* If calls for page faults cost too much, the collector attaches the programs for short windows: an adaptyst_window. */
uint32_t fault_window = ADAPTYST_WINDOW_NONE;

/* Page faults in all windows so far, by path. One sum for all processors, as the collector reads it after each window. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, ADAPTYST_CONTEXT_ROWS);
  __type(key, uint64_t);
  __type(value, struct adaptyst_window_faults);
} window_faults SEC(".maps");

static __always_inline void add_count(uint32_t what, uint64_t times) {
  uint64_t* counter = bpf_map_lookup_elem(&counts, &what);
  if (counter) __sync_fetch_and_add(counter, times);
}

static __always_inline void count(uint32_t what) { add_count(what, 1); }

__noinline int make_row(uint64_t path) {
  struct adaptyst_context_row empty = {};
  if (bpf_map_update_elem(&context, &path, &empty, BPF_NOEXIST) == -7 /* E2BIG */)
    bpf_map_update_elem(&more_context, &path, &empty, BPF_NOEXIST);
  return 0;
}

static __always_inline struct adaptyst_context_row* find_row(uint64_t path) {
  struct adaptyst_context_row* row = 0;
  if (path == 1) {
    count(ADAPTYST_CONTEXT_UNREADABLE);
    return 0;
  }
  row = bpf_map_lookup_elem(&context, &path);
  if (row) return row;
  row = bpf_map_lookup_elem(&more_context, &path);
  if (row) return row;
  make_row(path);
  row = bpf_map_lookup_elem(&context, &path);
  if (row) return row;
  row = bpf_map_lookup_elem(&more_context, &path);
  if (!row) count(ADAPTYST_CONTEXT_ROWS_FULL);
  return row;
}

/* Runs before the thread's first region, and again for each collector. */
SEC("uprobe")
int announce(struct pt_regs* registers) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct adaptyst_context_thread* thread;
  struct adaptyst_announced_recorder key = {};
  uint32_t is_present = 1;
  if (!is_observed()) return 0;
  if (PT_REGS_PARM2(registers) != layout.expected) {
    count(ADAPTYST_CONTEXT_LAYOUT);
    return 0;
  }
  thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) {
    count(ADAPTYST_CONTEXT_NO_MEMORY);
    return 0;
  }
  if (thread->image != program_image(task)) count(ADAPTYST_CONTEXT_THREADS);
  thread->recorder = PT_REGS_PARM1(registers);
  thread->major_faults = task->maj_flt;
  thread->left_ns = 0;
  thread->image = program_image(task);
  key.process = own_process();
  key.recorder = thread->recorder;
  bpf_map_update_elem(&recorders, &key, &is_present, BPF_ANY);
  return 0;
}

/* Only the task's counter, after the fault has been served, shows a major fault: it was the thread's last fault. If
 * that fault was skipped, it was in the region in which the thread was last blocked. */
static __always_inline void book_major_faults(struct adaptyst_context_thread* thread, struct task_struct* task) {
  uint64_t major = task->maj_flt;
  struct adaptyst_context_row* row;
  if (major == thread->major_faults) return;
  row = find_row(thread->faulted);
  if (row) __sync_fetch_and_add(&row->major_faults, major - thread->major_faults);
  thread->major_faults = major;
}

static __always_inline uint32_t find_blocking_reason(struct task_struct* task) {
  uint64_t call;
  if (BPF_CORE_READ_BITFIELD(task, in_iowait)) return ADAPTYST_BLOCKED_IO;
  call = current_call(task);
  return call < ADAPTYST_CONTEXT_SYSCALLS ? reasons[call] : ADAPTYST_BLOCKED_OTHER;
}

static __always_inline void leave(struct adaptyst_context_thread* thread, struct task_struct* task, int can_run) {
  uint32_t weight = weigh_switch(&thread->places, task, can_run);
  uint64_t now;
  if (task->maj_flt != thread->major_faults) book_major_faults(thread, task);
  /* Its return was not reported, and the time off the core is unknown. Seen in virtual machines: for some milliseconds
   * no tool has events of a core. */
  if (thread->left_ns) count(ADAPTYST_CONTEXT_NO_WAKEUP);
  thread->left_ns = 0;
  if (!weight) return;
  now = bpf_ktime_get_ns();
  thread->weight = weight;
  thread->path = current_region(thread);
  thread->core = bpf_get_smp_processor_id();
  if (!can_run) {
    thread->reason = find_blocking_reason(task);
    if (fault_step || fault_window) thread->faulted = thread->path;
  }
  thread->woken_ns = can_run ? now : 0;
  thread->left_ns = now;
  add_count(ADAPTYST_CONTEXT_SWITCHES, weight);
  add_estimated_cost(now);
}

static __always_inline void come_back(struct adaptyst_context_thread* thread) {
  struct adaptyst_switch back = {};
  uint64_t now, woken;
  struct adaptyst_context_row* row;
  if (!thread->left_ns) return; /* it was not recorded */
  now = bpf_ktime_get_ns();
  woken = thread->woken_ns;
  row = find_row(thread->path);
  if (row) {
    if (!woken) {
      woken = now;
      count(ADAPTYST_CONTEXT_NO_WAKEUP);
    }
    back.weight = thread->weight;
    back.blocked_ns = woken - thread->left_ns;
    back.runnable_ns = now - woken;
    back.reason = thread->reason;
    back.is_voluntary = back.blocked_ns != 0;
    back.has_moved = thread->core != bpf_get_smp_processor_id();
    /* Nothing else on this CPU changes the row or interrupts here: the scheduler has interrupts disabled. */
    adaptyst_book_switch(row, &back);
    add_estimated_cost(now);
  }
  thread->left_ns = 0;
}

/* preempt, previous, next, state of the previous */
SEC("tp_btf/sched_switch")
int switched(uint64_t* arguments) {
  struct task_struct* previous = (struct task_struct*)arguments[1];
  struct task_struct* next = (struct task_struct*)arguments[2];
  struct adaptyst_context_thread* thread = announced(previous);
  if (thread) leave(thread, previous, arguments[0] || !(uint32_t)arguments[3]);
  thread = announced(next);
  if (thread) come_back(thread);
  return 0;
}

SEC("tp_btf/sched_wakeup")
int woken(uint64_t* arguments) {
  struct adaptyst_context_thread* thread = bpf_task_storage_get(&threads, (struct task_struct*)arguments[0], 0, 0);
  if (!thread || !thread->left_ns || thread->woken_ns) return 0;
  thread->woken_ns = bpf_ktime_get_ns();
  add_estimated_cost(thread->woken_ns);
  return 0;
}

static __always_inline void book_in_window(struct adaptyst_context_thread* thread, struct task_struct* task,
                                           uint32_t window, uint64_t weight) {
  struct adaptyst_window_faults none = {};
  struct adaptyst_window_faults* found;
  uint64_t path = thread->faulted;
  uint64_t all = task->min_flt + task->maj_flt;
  if (thread->window != window) {
    thread->window = window;
    thread->faults_before = all;
  }
  if (path == 1) return count(ADAPTYST_CONTEXT_UNREADABLE);
  found = bpf_map_lookup_elem(&window_faults, &path);
  if (!found) {
    bpf_map_update_elem(&window_faults, &path, &none, BPF_NOEXIST);
    found = bpf_map_lookup_elem(&window_faults, &path);
  }
  if (!found) return count(ADAPTYST_CONTEXT_ROWS_FULL);
  __sync_fetch_and_add(&found->faults, weight);
  __sync_fetch_and_add(&found->earlier, weight * (all - thread->faults_before));
}

static __always_inline void book_in_row(uint64_t path, uint64_t weight) {
  struct adaptyst_context_row* row = find_row(path);
  if (row) {
    __sync_fetch_and_add(&row->faults, weight);
    if (weight != 1) __sync_fetch_and_add(&row->fault_variance, weight * (weight - 1));
  }
  add_count(ADAPTYST_CONTEXT_FAULTS, weight);
}

/* At the tracepoints page_fault_user and page_fault_kernel. The second is for faults in the kernel on behalf of the
 * program. */
SEC("raw_tp")
int faulted(uint64_t* arguments) {
  uint64_t weight = 1ULL << (*(volatile uint32_t*)&fault_step & 31);
  struct task_struct* task;
  struct adaptyst_context_thread* thread;
  uint64_t begin_ns = 0;
  uint32_t window = *(volatile uint32_t*)&fault_window;
  if (window == ADAPTYST_WINDOW_CLOSED) return 0;
  if (weight != 1 && bpf_get_prandom_u32() & (weight - 1)) return 0;
  task = bpf_get_current_task_btf();
  thread = announced(task);
  /* A fault of the kernel's memory, or of a read that does not wait for pages. */
  if (!thread || arguments[0] >> 63 || task->pagefault_disabled) return 0;
  /* Chosen at random: a program may fault on the same few pages for ever. */
  if (is_timed(bpf_get_prandom_u32())) begin_ns = bpf_ktime_get_ns();
  if (task->maj_flt != thread->major_faults) book_major_faults(thread, task);
  thread->faulted = current_region(thread);
  if (window) book_in_window(thread, task, window, weight);
  else book_in_row(thread->faulted, weight);
  if (begin_ns) add_count(ADAPTYST_CONTEXT_FAULT_NS, (bpf_ktime_get_ns() - begin_ns) << ADAPTYST_COST_ONE_OF_LOG2);
  return 0;
}
