/* Data of the BPF programs for samples: how often and how long a stack was sampled in a region. */
#ifndef ADAPTYST_PROBES_SAMPLE_LAYOUT_H
#define ADAPTYST_PROBES_SAMPLE_LAYOUT_H

#include <adaptyst/probe_abi.h>

enum {
  ADAPTYST_SAMPLE_ROWS = 16384,
  ADAPTYST_SAMPLE_STACKS = 8192, /* 1 KiB each, made when the programs are loaded */
  ADAPTYST_SAMPLE_FRAMES = 127,  /* the kernel's own limit, unless it has been raised */
  ADAPTYST_SAMPLE_CPUS = 4096,
};

enum adaptyst_sample_state { ADAPTYST_SAMPLE_ON_CPU, ADAPTYST_SAMPLE_BLOCKED, ADAPTYST_SAMPLE_WAITING };

enum adaptyst_sample_count {
  ADAPTYST_SAMPLE_TAKEN,       /* no loss: all clock ticks that met an observed thread on its core */
  ADAPTYST_SAMPLE_OBSERVED_NS, /* no loss: time of these samples, each since the previous tick of the clock */
  ADAPTYST_SAMPLE_ROWS_FULL,   /* a sample, or a stretch off the core: no row for its stack */
  ADAPTYST_SAMPLE_UNREADABLE,  /* a sample, or a stretch off the core: the thread's recorder could not be read */
  ADAPTYST_SAMPLE_STACKS_FULL, /* its stack: no room; it counts without frames */
  ADAPTYST_SAMPLE_TRUNCATED,   /* its outermost frames: the stack is deeper than the limit */
  ADAPTYST_SAMPLE_NO_MEMORY,   /* a stretch off the core: no memory for its beginning */
  ADAPTYST_SAMPLE_NO_CLOCK,    /* a processor has stopped sampling: its clock could not be set again */
  ADAPTYST_SAMPLE_COUNTS
};

struct adaptyst_sample_key {
  uint64_t path; /* 0 outside all regions */
  uint64_t user; /* ids of stacks; 0: none */
  uint64_t kernel;
  uint32_t process; /* in the collector's PID namespace */
  uint32_t state;   /* enum adaptyst_sample_state */
};

struct adaptyst_sample_row {
  uint64_t count;
  uint64_t ns; /* 0 on a core */
};

/* Innermost frame first. */
struct adaptyst_sample_stack {
  uint64_t depth;
  uint64_t frames[ADAPTYST_SAMPLE_FRAMES];
};

#endif
