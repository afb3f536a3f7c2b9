/* Data of the program for functions, in addition to the rows, groups and paths of kernel_layout.h: a stack for each
 * thread. */
#ifndef ADAPTYST_PROBES_FUNCTION_LAYOUT_H
#define ADAPTYST_PROBES_FUNCTION_LAYOUT_H

#include "kernel_layout.h"

enum {
  ADAPTYST_FUNCTION_DEPTH = 64, /* open functions of a thread; also the kernel's limit for return probes */
};

/* In addition to the losses of kernel_layout.h, in the same map. */
enum adaptyst_function_count {
  ADAPTYST_FUNCTION_BEGUN = ADAPTYST_KERNEL_LOSSES, /* entries, with or without a return */
  ADAPTYST_FUNCTION_TOO_DEEP,                       /* lost: more open functions than a stack holds */
  ADAPTYST_FUNCTION_UNMATCHED, /* lost: left by longjmp() or an exception, or without a return probe */
  ADAPTYST_FUNCTION_NO_MEMORY, /* lost: no memory for the thread's stack, or for an entry of a new thread */
  ADAPTYST_FUNCTION_ORPHANS,   /* returns without an entry: attached in between, or lost as above */
  ADAPTYST_FUNCTION_COUNTS
};

/* An open function. */
struct adaptyst_function_frame {
  uint64_t function; /* its id, the cookie of its probe */
  uint64_t parent;   /* path ids */
  uint64_t path;
  uint64_t stack; /* stack pointer at its entry */
  uint64_t child_ns;
  uint64_t entry_ns;
  uint64_t marker;  /* address of the path of the innermost marker that was open at its entry, or 0 */
  uint64_t markers; /* number of open markers */
};

struct adaptyst_function_stack {
  uint64_t depth;
  uint64_t image;    /* program_image() */
  uint64_t recorder; /* address of the thread's recorder with its open markers; 0: not found */
  uint64_t owners;   /* control_page::owners at the last search */
  uint64_t marker;   /* around the function that is entered: as in its frame, and its path's id and depth */
  uint64_t marker_path;
  uint64_t marker_depth;
  struct adaptyst_function_frame frames[ADAPTYST_FUNCTION_DEPTH];
};

#endif
