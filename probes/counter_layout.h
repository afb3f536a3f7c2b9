/* Counters of the processor per call path, in the form that their BPF program leaves for the collector. */
#ifndef ADAPTYST_PROBES_COUNTER_LAYOUT_H
#define ADAPTYST_PROBES_COUNTER_LAYOUT_H

#include <adaptyst/probe_abi.h>

enum adaptyst_counter {
  ADAPTYST_COUNTER_CYCLES,
  ADAPTYST_COUNTER_INSTRUCTIONS,
  ADAPTYST_COUNTER_CACHE_MISSES,
  ADAPTYST_COUNTERS
};

/* For one call path without those below it, on one CPU; keyed by the path's id, 0 outside all regions. */
struct adaptyst_counter_row {
  uint64_t events[ADAPTYST_COUNTERS];
};

#endif
