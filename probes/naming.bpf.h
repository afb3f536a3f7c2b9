/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Copies what markers and their paths are called out of the program, so that rows outlive it.
 */
#ifndef ADAPTYST_PROBES_NAMING_BPF_H
#define ADAPTYST_PROBES_NAMING_BPF_H

#include "aggregate.bpf.h"

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

static __always_inline uint64_t mix(uint64_t value) {
  value *= 0x9E3779B97F4A7C15U;
  return value ^ (value >> 32);
}

/* The id of a marker's path where functions that carry no markers are open around it: `function` is the path of the
 * innermost of these, 0 if there is none. */
static __always_inline uint64_t path_among(uint64_t function, uint64_t path) {
  return function ? mix(mix(function) ^ path) : path;
}

/* Names a path and those above it, up to the first that is known already; or up to a function at whose entry so many
 * `markers` were open. Deeper ones than the bound are named when they end themselves. */
__noinline int name_path(uint64_t address, uint64_t function, uint64_t markers) {
  int i;
  for (i = 0; i < 64 && address; ++i) {
    struct adaptyst_path path;
    struct adaptyst_kernel_path to = {};
    uint64_t parent = 0;
    uint64_t id = 0;
    int why = 0;
    if (bpf_probe_read_user(&path, sizeof(path), (const void*)address)) why = 1 + ADAPTYST_KERNEL_UNREADABLE;
    if (!why) id = path_among(function, path.id);
    if (!why && bpf_map_lookup_elem(&paths, &id)) return 0;
    if (!why && (bpf_probe_read_user(&to.site, sizeof(to.site), &path.site->id) ||
                 (path.parent && bpf_probe_read_user(&parent, sizeof(parent), &path.parent->id))))
      why = 1 + ADAPTYST_KERNEL_UNREADABLE;
    if (!why) {
      int below_function = function && path.depth <= markers;
      to.parent = below_function ? function : path.parent ? path_among(function, parent) : 0;
      to.marker = path.id;
      to.device = path.device;
      to.depth = path.depth;
      why = name_site((uint64_t)path.site);
      if (below_function) path.parent = 0;
    }
    if (!why && bpf_map_update_elem(&paths, &id, &to, BPF_ANY)) why = 1 + ADAPTYST_KERNEL_NAMES_FULL;
    if (why) {
      count_loss(why - 1);
      return 0;
    }
    address = (uint64_t)path.parent;
  }
  return 0;
}

#endif
