/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Counts what has ended per call path, in the kernel: one trap an event, a row per CPU, no event stream.
 *
 * No CO-RE: the only kernel structure used is pt_regs, which is user ABI. So neither BTF nor vmlinux.h is needed.
 */
#include "record.h"

#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "aggregate.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct adaptyst_kernel_filter filter = {};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_KERNEL_SITES);
  __type(key, uint64_t);
  __type(value, struct adaptyst_kernel_site);
} sites SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_KERNEL_PROCESSES);
  __type(key, uint32_t);
  __type(value, uint32_t);
} processes SEC(".maps");

/* Too large for the stack. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, struct adaptyst_kernel_site);
} site_scratch SEC(".maps");

static __always_inline int is_observed(void) {
  struct bpf_pidns_info task;
  if (!filter.pid && !filter.listed) return 1;
  if (!filter.namespace_inode) task.tgid = bpf_get_current_pid_tgid() >> 32;
  else if (bpf_get_ns_current_pid_tgid(filter.namespace_device, filter.namespace_inode, &task, sizeof(task))) return 0;
  return filter.listed ? !!bpf_map_lookup_elem(&processes, &task.tgid) : task.tgid == filter.pid;
}

/* The functions that name things are global, with numbers for arguments, so that the verifier checks each of them once
 * and not along every way that leads there: loading takes 2 ms and not 40. */

/* Copies a marker's texts; 0, or 1 + why not. */
__noinline int name_site(uint64_t address) {
  struct adaptyst_site site;
  struct adaptyst_kernel_site* to;
  uint32_t zero = 0;
  uint32_t bytes;
  if (bpf_probe_read_user(&site, sizeof(site), (const void*)address)) return 1 + ADAPTYST_KERNEL_UNREADABLE;
  if (bpf_map_lookup_elem(&sites, &site.id)) return 0;
  to = bpf_map_lookup_elem(&site_scratch, &zero);
  if (!to) return 1 + ADAPTYST_KERNEL_NAMES_FULL;
  bytes = site.name_bytes;
  if (bytes > ADAPTYST_TEXT_BYTES - 1) bytes = ADAPTYST_TEXT_BYTES - 1;
  __builtin_memset(to->name, 0, sizeof(to->name));
  if (bpf_probe_read_user(to->name, bytes & (ADAPTYST_TEXT_BYTES - 1), site.name) ||
      bpf_probe_read_user_str(to->file, sizeof(to->file), site.file) < 0 ||
      bpf_probe_read_user_str(to->function, sizeof(to->function), site.function) < 0 ||
      bpf_probe_read_user_str(to->label, sizeof(to->label), site.label) < 0)
    return 1 + ADAPTYST_KERNEL_UNREADABLE;
  to->name_bytes = bytes;
  to->line = site.line;
  to->kind = site.kind;
  if (bpf_map_update_elem(&sites, &site.id, to, BPF_ANY)) return 1 + ADAPTYST_KERNEL_NAMES_FULL;
  return 0;
}

/* Names a path and those above it, up to the first that is known already. Deeper ones than the bound are named when
 * they end themselves. */
__noinline int name_path(uint64_t address) {
  int i;
  for (i = 0; i < 64 && address; ++i) {
    struct adaptyst_path path;
    struct adaptyst_kernel_path to = {};
    int why = 0;
    if (bpf_probe_read_user(&path, sizeof(path), (const void*)address)) why = 1 + ADAPTYST_KERNEL_UNREADABLE;
    if (!why && bpf_map_lookup_elem(&paths, &path.id)) return 0;
    if (!why && (bpf_probe_read_user(&to.site, sizeof(to.site), &path.site->id) ||
                 (path.parent && bpf_probe_read_user(&to.parent, sizeof(to.parent), &path.parent->id))))
      why = 1 + ADAPTYST_KERNEL_UNREADABLE;
    if (!why) {
      to.device = path.device;
      to.depth = path.depth;
      why = name_site((uint64_t)path.site);
    }
    if (!why && bpf_map_update_elem(&paths, &path.id, &to, BPF_ANY)) why = 1 + ADAPTYST_KERNEL_NAMES_FULL;
    if (why) {
      count_loss(why - 1);
      return 0;
    }
    address = (uint64_t)path.parent;
  }
  return 0;
}

/* A new row, all zeros, and the name of its path. */
__noinline int make_row(uint64_t id, uint64_t path) {
  struct adaptyst_kernel_row empty = {};
  long failed = bpf_map_update_elem(&rows, &id, &empty, BPF_NOEXIST);
  if (!failed) name_path(path);
  else if (failed == -7 /* E2BIG */) count_loss(ADAPTYST_KERNEL_ROWS_FULL);
  else if (failed != -17 /* EEXIST: another CPU was faster */) count_loss(ADAPTYST_KERNEL_BUSY);
  return 0;
}

static __always_inline int count(uint64_t id, uint64_t duration_ns, uint64_t self_ns, uint64_t path) {
  struct adaptyst_kernel_row* row;
  if (!is_observed()) return 0;
  row = bpf_map_lookup_elem(&rows, &id);
  if (!row) {
    make_row(id, path);
    row = bpf_map_lookup_elem(&rows, &id);
    if (!row) return 0; /* counted by make_row */
  }
  add_to_row(row, id, duration_ns, self_ns);
  return 0;
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
  uint64_t duration_ns = PT_REGS_PARM4(registers) - PT_REGS_PARM3(registers);
  return count(PT_REGS_PARM2(registers), duration_ns, PT_REGS_PARM5(registers), path_argument(registers));
}

/* For the self-test of attach points, and as the floor of the benchmarks. */
SEC("uprobe")
int empty(struct pt_regs* registers) { return 0; }
