/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Stacks of observed threads: of running threads, sampled by a clock on each processor, and of threads that leave their
 * core. Counted per call path of regions.
 *
 * The clock is a timer that starts again, after each sample, for a random time. A perf event has a constant time between
 * two samples: a loop that follows the clock is delayed a little by each sample, and drifts until samples always meet it
 * at the same place. Shares of 70 and 30 % were reported as 94 and 6 %. Changing a perf event's period from outside helps
 * only if that process gets a core in time, for each sample.
 *
 * The random time has an exponential distribution, so that a sample is as likely at each instant, whatever the sample
 * before it has done to the program (R. W. Wolff, "Poisson arrivals see time averages", 1982). A uniform distribution
 * between 0.5 and 1.5 periods is not enough where a sample takes longer than a region that follows the clock: the next
 * region begins with the end of the sample, and shares of 69 % were reported as 72 %.
 */
#include "sample_layout.h"

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

enum { PINNED = 2 /* BPF_F_TIMER_CPU_PIN, Linux 6.7 */ };

const volatile uint64_t period_ns = 1003009;

uint32_t stopped = 0;

struct sample_clock {
  struct bpf_timer timer;
  uint64_t last_ns; /* time of the last tick */
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, ADAPTYST_SAMPLE_MAX_CPUS);
  __type(key, uint32_t);
  __type(value, struct sample_clock);
} clocks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, ADAPTYST_SAMPLE_MAX_ROWS);
  __type(key, struct adaptyst_sample_key);
  __type(value, struct adaptyst_sample_row);
} samples SEC(".maps");

/* Preallocated: the kernel allocates memory only slowly in the contexts in which stacks are sampled. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, ADAPTYST_SAMPLE_MAX_STACKS);
  __type(key, uint64_t);
  __type(value, struct adaptyst_sample_stack);
} kept_stacks SEC(".maps");

/* Too large for the stack. No other program interrupts its use: the clocks run where nothing is scheduled. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, struct adaptyst_sample_stack);
} scratch SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, ADAPTYST_SAMPLE_COUNTS);
  __type(key, uint32_t);
  __type(value, uint64_t);
} counts SEC(".maps");

/* A thread that is off its core. */
struct absence {
  uint64_t left_ns;  /* 0: it is on a core */
  uint64_t woken_ns; /* when it began to wait for a core; 0: it is blocked */
  struct adaptyst_sample_key key;
  uint32_t weight; /* the number of switches for which this one counts */
  struct adaptyst_switch_places places;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct absence);
} absences SEC(".maps");

static __always_inline void count_more(uint32_t what, uint64_t by) {
  uint64_t* counter = bpf_map_lookup_elem(&counts, &what);
  if (counter) __sync_fetch_and_add(counter, by);
}

static __always_inline void count(uint32_t what) { count_more(what, 1); }

/* Global functions with numbers for arguments: the verifier checks each once. */

/* The id of the current thread's stack, of the program or of the kernel; 0: there is none. */
__noinline uint64_t keep_stack(uint64_t flags) {
  uint32_t zero = 0;
  struct adaptyst_sample_stack* stack = bpf_map_lookup_elem(&scratch, &zero);
  uint64_t id = flags + 1;
  long bytes, failed;
  int i;
  if (!stack) return 0;
  bytes = bpf_get_task_stack(bpf_get_current_task_btf(), stack->frames, sizeof(stack->frames), flags);
  if (bytes < 8) return 0;
  stack->depth = bytes / 8;
  if (stack->depth >= ADAPTYST_SAMPLE_MAX_FRAMES) count(ADAPTYST_SAMPLE_TRUNCATED);
  for (i = 0; i < ADAPTYST_SAMPLE_MAX_FRAMES && i < stack->depth; ++i) id = mix(id ^ stack->frames[i]) + i;
  if (!id) id = 1;
  if (bpf_map_lookup_elem(&kept_stacks, &id)) return id;
  failed = bpf_map_update_elem(&kept_stacks, &id, stack, BPF_NOEXIST);
  if (!failed || failed == -17 /* EEXIST: another processor was faster */) return id;
  count(ADAPTYST_SAMPLE_STACKS_FULL);
  return 0;
}

static __always_inline void add(const struct adaptyst_sample_key* key, uint64_t times, uint64_t ns) {
  struct adaptyst_sample_row* row = bpf_map_lookup_elem(&samples, key);
  if (!row) {
    struct adaptyst_sample_row empty = {};
    bpf_map_update_elem(&samples, key, &empty, BPF_NOEXIST);
    row = bpf_map_lookup_elem(&samples, key);
    if (!row) {
      count(ADAPTYST_SAMPLE_ROWS_FULL);
      return;
    }
  }
  __sync_fetch_and_add(&row->count, times);
  if (ns) __sync_fetch_and_add(&row->ns, times * ns);
}

/* Whether the tick met the thread in a system call or a fault, and not in the program's code. */
static __always_inline int is_in_kernel(void) {
  struct pt_regs* registers = (struct pt_regs*)bpf_task_pt_regs(bpf_get_current_task_btf());
#if defined(__TARGET_ARCH_x86)
  uint64_t call = 0; /* negative for an interrupt */
  return !bpf_probe_read_kernel(&call, sizeof(call), &registers->orig_rax) && !(call >> 63);
#else
  int call = 0; /* after user_pt_regs: orig_x0, syscallno */
  return !bpf_probe_read_kernel(&call, sizeof(call), (char*)registers + sizeof(struct user_pt_regs) + 8) && call >= 0;
#endif
}

/* Returns whether the thread is observed. */
__noinline int take_sample(uint64_t interval_ns) {
  struct adaptyst_context_thread* thread;
  struct adaptyst_sample_key key = {};
  if (!(bpf_get_current_pid_tgid() >> 32) || !is_observed()) return 0;
  count(ADAPTYST_SAMPLE_TAKEN);
  count_more(ADAPTYST_SAMPLE_OBSERVED_NS, interval_ns);
  thread = announced(bpf_get_current_task_btf());
  key.path = thread ? current_region(thread) : 0;
  if (key.path == 1) {
    count(ADAPTYST_SAMPLE_UNREADABLE);
    return 1;
  }
  key.process = own_process();
  key.user_stack = keep_stack(BPF_F_USER_STACK);
  if (is_in_kernel()) key.kernel_stack = keep_stack(0);
  add(&key, 1, 0);
  return 1;
}

/* Exponential, with a mean of period_ns: -ln(u) of a uniform u, from 0 to 22 periods. log2(1 + x) is x + 0.344 x (1 - x)
 * within 0.008. */
static __always_inline uint64_t random_interval(void) {
  uint32_t u = bpf_get_prandom_u32() | 1, zeros = 0;
  uint64_t x, logarithm;
  while (zeros < 31 && !(u >> 31)) {
    u <<= 1;
    ++zeros;
  }
  x = u >> 15 & 0xffff;
  logarithm = ((uint64_t)(zeros + 1) << 16) - x - ((x * (65536 - x) >> 16) * 22545 >> 16);
  return (period_ns * logarithm >> 16) * 45426 >> 16; /* ln 2 */
}

static __always_inline long set(struct sample_clock* clock) {
  return bpf_timer_start(&clock->timer, random_interval(), PINNED);
}

static int tick(void* map, uint32_t* cpu, struct sample_clock* clock) {
  uint64_t now = bpf_ktime_get_ns();
  uint64_t interval_ns = now - clock->last_ns;
  int is_taken;
  if (stopped) return 0;
  /* The clock's processor is offline; the clock would be another processor's second one. */
  if (bpf_get_smp_processor_id() != *cpu) {
    count(ADAPTYST_SAMPLE_TIMER_FAILED);
    return 0;
  }
  clock->last_ns = now;
  is_taken = take_sample(interval_ns);
  if (set(clock)) count(ADAPTYST_SAMPLE_TIMER_FAILED);
  if (is_taken) add_cost(now, 1);
  return 0;
}

/* The collector runs it on each processor. */
SEC("syscall")
int start_clock(void* nothing) {
  uint32_t cpu = bpf_get_smp_processor_id();
  struct sample_clock* clock = bpf_map_lookup_elem(&clocks, &cpu);
  if (!clock || bpf_timer_init(&clock->timer, &clocks, 1 /* CLOCK_MONOTONIC */)) return 1;
  bpf_timer_set_callback(&clock->timer, tick);
  clock->last_ns = bpf_ktime_get_ns();
  return set(clock) ? 2 : 0;
}

/* The collector runs it. The list of all functions in /proc/kallsyms takes 150 ms to read. */
SEC("syscall")
int name_code(struct adaptyst_kernel_name* name) {
  uint64_t address = name->address;
  char text[sizeof(name->text)] = {};
  if (bpf_snprintf(text, sizeof(text), "%ps", &address, sizeof(address)) < 0) return 1;
  __builtin_memcpy(name->text, text, sizeof(text));
  return 0;
}

/* The current thread leaves its core. */
__noinline int leave(uint64_t can_run) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct adaptyst_context_thread* thread = announced(task);
  struct absence* absence;
  uint64_t path, now;
  uint32_t weight;
  if (!thread || stopped) return 0;
  absence = bpf_task_storage_get(&absences, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!absence) {
    count(ADAPTYST_SAMPLE_NO_MEMORY);
    return 0;
  }
  absence->left_ns = 0;
  weight = weigh_switch(&absence->places, task, can_run != 0);
  if (!weight) return 0;
  now = bpf_ktime_get_ns();
  path = current_region(thread);
  if (path == 1) {
    count(ADAPTYST_SAMPLE_UNREADABLE);
    return 0;
  }
  absence->weight = weight;
  absence->key.path = path;
  absence->key.process = own_process();
  absence->key.user_stack = keep_stack(BPF_F_USER_STACK);
  absence->key.kernel_stack = !can_run || is_in_kernel() ? keep_stack(0) : 0;
  absence->left_ns = bpf_ktime_get_ns();
  absence->woken_ns = can_run ? absence->left_ns : 0;
  count_more(ADAPTYST_SAMPLE_WAITS, weight);
  count_more(ADAPTYST_SAMPLE_WAIT_NS, bpf_ktime_get_ns() - now);
  return 0;
}

/* preempt, previous, next, state of the previous */
SEC("tp_btf/sched_switch")
int switched(uint64_t* arguments) {
  struct absence* absence;
  struct adaptyst_sample_key key;
  uint64_t now, woken, left;
  leave(arguments[0] || !(uint32_t)arguments[3]);
  absence = bpf_task_storage_get(&absences, (struct task_struct*)arguments[2], 0, 0);
  if (!absence || !absence->left_ns) return 0;
  now = bpf_ktime_get_ns();
  left = absence->left_ns;
  woken = absence->woken_ns ?: now;
  absence->left_ns = 0;
  key = absence->key;
  key.state = ADAPTYST_SAMPLE_BLOCKED;
  if (woken > left) add(&key, absence->weight, woken - left);
  key.state = ADAPTYST_SAMPLE_RUNNABLE;
  if (now > woken) add(&key, absence->weight, now - woken);
  if (is_timed(now)) count_more(ADAPTYST_SAMPLE_WAIT_NS, (bpf_ktime_get_ns() - now) << ADAPTYST_COST_ONE_OF_LOG2);
  return 0;
}

SEC("tp_btf/sched_wakeup")
int woken(uint64_t* arguments) {
  struct absence* absence = bpf_task_storage_get(&absences, (struct task_struct*)arguments[0], 0, 0);
  if (absence && absence->left_ns && !absence->woken_ns) absence->woken_ns = bpf_ktime_get_ns();
  return 0;
}
