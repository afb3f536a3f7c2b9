/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Copies the names of markers and their paths out of the program, so that rows outlive the program.
 */
#ifndef ADAPTYST_PROBES_NAMING_BPF_H
#define ADAPTYST_PROBES_NAMING_BPF_H

#include "aggregate.bpf.h"
#include "path_id.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, ADAPTYST_KERNEL_SITES);
  __type(key, uint64_t);
  __type(value, struct adaptyst_kernel_site);
} sites SEC(".maps");

/* Too large for the stack. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, struct adaptyst_kernel_site);
} site_scratch SEC(".maps");

/* The functions for names are global and have numbers as arguments, so that the verifier checks each of them once and
 * not along every call path: loading takes 2 ms instead of 40. */

/* Whether an element exists, also if another CPU added it first. */
static __always_inline int is_kept(long failed) { return !failed || failed == -17 /* EEXIST */; }

/* Adds a path; 0, or 1 if it failed. If there is no room for `own`, the path of the event, its caller counts the event
 * as lost. This function counts a missing name for other paths and other failures. */
static __always_inline int keep_path(uint64_t id, struct adaptyst_kernel_path* path, uint64_t own) {
  long failed = bpf_map_update_elem(&paths, &id, path, BPF_NOEXIST);
  if (is_kept(failed)) return 0;
  if (failed == -7 /* E2BIG */) paths_are_full = 1;
  if (failed != -7 || id != own) count_loss(ADAPTYST_KERNEL_NAMES_FULL);
  return 1;
}

/* Copies a marker's texts; 0, or 1 + the loss reason. */
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
  to->level = site.level;
  return is_kept(bpf_map_update_elem(&sites, &site.id, to, BPF_NOEXIST)) ? 0 : 1 + ADAPTYST_KERNEL_NAMES_FULL;
}

/* Names a path, and returns the address of the one above it; 0: that path is known already, or there is none. */
static __always_inline uint64_t name_one_path(uint64_t address, uint64_t function, uint64_t markers, uint64_t own) {
  struct adaptyst_path path;
  struct adaptyst_kernel_path to = {};
  uint64_t id;
  int why = 1 + ADAPTYST_KERNEL_UNREADABLE;
  if (bpf_probe_read_user(&path, sizeof(path), (const void*)address)) goto unnamed;
  id = path_among(function, path.id);
  if (bpf_map_lookup_elem(&paths, &id)) return 0;
  if (function && path.depth <= markers) {
    to.parent = function;
    path.parent = 0;
  }
  if (path.parent) {
    if (bpf_probe_read_user(&to.parent, sizeof(to.parent), &path.parent->id)) goto unnamed;
    to.parent = path_among(function, to.parent);
  }
  if (bpf_probe_read_user(&to.site, sizeof(to.site), &path.site->id)) goto unnamed;
  to.marker = path.id;
  to.device = path.device;
  why = name_site((uint64_t)path.site);
  if (why) goto unnamed;
  return keep_path(id, &to, own) ? 0 : (uint64_t)path.parent;
unnamed:
  count_loss(why - 1);
  return 0;
}

/* A function, so that the verifier checks the loop's body once instead of 64 times. */
__noinline uint64_t name_marker_path(uint64_t address, uint64_t own) { return name_one_path(address, 0, 0, own); }

/* Names a path and the paths above it, up to the first known one. Paths beyond the bound are named when their regions
 * end. */
__noinline int name_path(uint64_t address, uint64_t own) {
  int i;
  for (i = 0; i < 64 && address; ++i) address = name_marker_path(address, own);
  return 0;
}

struct path_below_function {
  uint64_t address;
  uint64_t function;
  uint64_t markers;
  uint64_t own;
};

static long name_path_below(uint64_t step, struct path_below_function* path) {
  path->address = name_one_path(path->address, path->function, path->markers, path->own);
  return !path->address;
}

/* The same below a function with so many open `markers` at its entry. */
static __always_inline void name_path_among(uint64_t address, uint64_t function, uint64_t markers, uint64_t own) {
  struct path_below_function path = {address, function, markers, own};
  if (address) bpf_loop(4096, name_path_below, &path, 0);
}

#endif
