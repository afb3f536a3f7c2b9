/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Counts ended events per call path, in the kernel: one trap per event, rows for each CPU, no event stream.
 *
 * No CO-RE: the only kernel structure used is pt_regs, which is user ABI. BTF and vmlinux.h are therefore only needed
 * if functions are observed as well.
 */
#include "kernel_layout.h"

#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "aggregate.bpf.h"
#include "function_stack.bpf.h"
#include "naming.bpf.h"
#include "process.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Whether functions without markers are observed as well. */
const volatile uint32_t among_functions = 0;

/* The innermost open function around a region; null if there is none, or if the region is not bound to a scope, and may
 * have begun elsewhere. */
static __always_inline struct adaptyst_function_frame* function_around(struct pt_regs* registers, uint64_t address) {
  struct adaptyst_function_stack* stack = own_stack(0);
  struct adaptyst_path path;
  uint32_t kind;
  int i;
  if (!stack || !stack->depth || bpf_probe_read_user(&path, sizeof(path), (const void*)address) ||
      bpf_probe_read_user(&kind, sizeof(kind), &path.site->kind) ||
      (kind > ADAPTYST_SITE_OFFLOAD && kind != ADAPTYST_SITE_WAIT))
    return 0;
  for (i = 0; i < ADAPTYST_FUNCTION_DEPTH && i < stack->depth; ++i) {
    struct adaptyst_function_frame* frame = frame_at(stack, stack->depth - i);
    /* longjmp() has left a function below the stack pointer. */
    if (frame->stack > PT_REGS_SP(registers) && frame->markers <= path.depth) return frame;
  }
  return 0;
}

/* Names a path that has no row here yet, and finds a place for the row; see place_row(). */
__noinline int make_row(uint64_t id, uint64_t path, uint64_t function, uint64_t markers, uint32_t group) {
  if (!paths_are_full && !bpf_map_lookup_elem(&paths, &id)) {
    if (among_functions && function) {
      name_path_among(path, function, markers, id);
      name_open_functions(id);
    } else {
      name_path(path, id);
    }
  }
  return place_row(id, group);
}

/* The sixth argument; libbpf names five. */
static __always_inline uint64_t path_argument(struct pt_regs* registers) {
#if defined(__TARGET_ARCH_x86)
  return registers->r9;
#else
  return ((const struct user_pt_regs*)registers)->regs[5];
#endif
}

SEC("uprobe")
int region_end(struct pt_regs* registers) {
  /* name, path_id, begin_ns, end_ns, self_ns, path; see probe_abi.h */
  uint64_t id = PT_REGS_PARM2(registers);
  uint64_t duration_ns = PT_REGS_PARM4(registers) - PT_REGS_PARM3(registers);
  uint64_t path = path_argument(registers);
  uint64_t function = 0;
  uint64_t markers = 0;
  int group = own_group();
  int place;
  struct adaptyst_kernel_row* row;
  if (group < 0) return 0;
  if (among_functions) {
    struct adaptyst_function_frame* around = function_around(registers, path);
    if (around) {
      function = around->path;
      markers = around->markers;
      id = path_among(function, id);
    }
  }
  place = group + bpf_get_smp_processor_id();
  row = part_at(id, place, 0);
  if (!row) {
    place = make_row(id, path, function, markers, group);
    if (place < 0) return 0;
    row = part_at(id, place, 0);
    if (!row) { /* the collector has just removed it */
      count_loss(ADAPTYST_KERNEL_BUSY);
      return 0;
    }
  }
  add_to_row(row, id, place, duration_ns, PT_REGS_PARM5(registers));
  return 0;
}

/* For the self-test of attach points, and as the lower bound in benchmarks. */
SEC("uprobe")
int empty(struct pt_regs* registers) { return 0; }
