/* Data of the BPF programs for samples: how often and how long a stack was sampled in a region. */
#ifndef ADAPTYST_PROBES_SAMPLE_LAYOUT_H
#define ADAPTYST_PROBES_SAMPLE_LAYOUT_H

#include <adaptyst/probe_abi.h>

enum {
  ADAPTYST_SAMPLE_MAX_ROWS = 16384,
  ADAPTYST_SAMPLE_MAX_STACKS = 8192, /* 1 KiB each, preallocated at BPF load */
  ADAPTYST_SAMPLE_MAX_FRAMES = 127,  /* default of kernel.perf_event_max_stack */
  ADAPTYST_SAMPLE_MAX_CPUS = 4096,
};

enum adaptyst_sample_state { ADAPTYST_SAMPLE_ON_CPU, ADAPTYST_SAMPLE_BLOCKED, ADAPTYST_SAMPLE_RUNNABLE };

enum adaptyst_sample_counter {
  ADAPTYST_SAMPLE_TAKEN,        /* no loss: all samples of observed threads on a core */
  ADAPTYST_SAMPLE_OBSERVED_NS,  /* no loss: time of these samples, each since the previous tick of the clock */
  ADAPTYST_SAMPLE_ROWS_FULL,    /* lost sample or off-CPU interval: no free row */
  ADAPTYST_SAMPLE_UNREADABLE,   /* lost sample or off-CPU interval: the recorder could not be read */
  ADAPTYST_SAMPLE_STACKS_FULL,  /* lost stack: map full; the sample counts */
  ADAPTYST_SAMPLE_TRUNCATED,    /* lost outermost frames: stack deeper than the limit */
  ADAPTYST_SAMPLE_NO_MEMORY,    /* lost off-CPU interval: no memory for its begin */
  ADAPTYST_SAMPLE_WAITS,        /* no loss: thread switches away from a core; estimated if some are skipped */
  ADAPTYST_SAMPLE_WAIT_NS,      /* no loss: CPU time of the programs on them */
  ADAPTYST_SAMPLE_TIMER_FAILED, /* a CPU has stopped sampling: its timer could not be re-armed */
  ADAPTYST_SAMPLE_COUNTS
};

struct adaptyst_sample_key {
  uint64_t path;       /* 0 outside all regions */
  uint64_t user_stack; /* ids of stacks; 0: none */
  uint64_t kernel_stack;
  uint32_t process; /* in the collector's PID namespace */
  uint32_t state;   /* enum adaptyst_sample_state */
};

struct adaptyst_sample_row {
  uint64_t count;
  uint64_t ns; /* off-CPU */
};

/* An address of the kernel's code, and the text for it. */
struct adaptyst_kernel_name {
  uint64_t address;
  char text[120];
};

/* Innermost frame first. */
struct adaptyst_sample_stack {
  uint64_t depth;
  uint64_t frames[ADAPTYST_SAMPLE_MAX_FRAMES];
};

#endif
