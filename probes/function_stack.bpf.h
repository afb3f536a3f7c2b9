/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Names for the paths of a thread's open functions without markers.
 */
#ifndef ADAPTYST_PROBES_FUNCTION_STACK_BPF_H
#define ADAPTYST_PROBES_FUNCTION_STACK_BPF_H

#include "naming.bpf.h"
#include "open_functions.bpf.h"

struct functions_to_name {
  uint64_t innermost;
  uint64_t own;
};

static long name_function(uint64_t step, struct functions_to_name* open) {
  struct adaptyst_function_stack* stack = own_stack(0);
  uint64_t depth = open->innermost - step;
  struct adaptyst_function_frame* frame;
  struct adaptyst_function_frame* above;
  struct adaptyst_kernel_path path = {};
  uint64_t id;
  if (!stack) return 1;
  frame = frame_at(stack, depth);
  above = depth > 1 ? frame_at(stack, depth - 1) : 0;
  id = frame->path;
  if (bpf_map_lookup_elem(&paths, &id)) return 1;
  path.parent = frame->parent;
  path.site = frame->function;
  if (keep_path(id, &path, open->own)) return 1;
  if (frame->markers > (above ? above->markers : 0))
    name_path_among(frame->marker, above ? above->path : 0, above ? above->markers : 0, open->own);
  return 0;
}

/* Names the path of the innermost frame and the paths above it, up to the first known one, for an event of the path
 * `own`. */
static __always_inline void name_open_functions(uint64_t own) {
  struct adaptyst_function_stack* stack = own_stack(0);
  struct functions_to_name open = {stack ? stack->depth : 0, own};
  bpf_loop(open.innermost, name_function, &open, 0);
}

#endif
