/* Offsets in a program's structures, as defined in the headers in include/adaptyst/detail/. */
#ifndef ADAPTYST_PROBES_RECORDER_LAYOUT_H
#define ADAPTYST_PROBES_RECORDER_LAYOUT_H

#include <adaptyst/probe_abi.h>

struct adaptyst_recorder_layout {
  uint64_t expected;                    /* value of control_page::layout for this layout */
  uint32_t layout, owners, recorders;   /* in the process's state */
  uint32_t next, thread, depth, frames; /* in a recorder; the base follows the depth */
  uint32_t frame_bytes;
  uint32_t stack, begin, path; /* in a frame */
  uint32_t pad;
};

#endif
