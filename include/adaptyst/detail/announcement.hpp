// What a program that was started under observation and its observer tell each other, over the socket that the environment
// variable ADAPTYST_OBSERVER names (SOCK_SEQPACKET, abstract): one announcement, one answer, end. With the first
// announcement of a process goes the descriptor of its store (SCM_RIGHTS), if that is a file; with the first answer to it
// that of what the observer sets (observer_settings.hpp).
#ifndef ADAPTYST_DETAIL_ANNOUNCEMENT_HPP
#define ADAPTYST_DETAIL_ANNOUNCEMENT_HPP

#include "../probe_abi.h"

enum adaptyst_announced {
  ADAPTYST_OBJECT_LOADED = 1,  // an ELF object with markers, before its constructors
  ADAPTYST_PROCESS_FORKED = 2,
  ADAPTYST_OBJECT_UNLOADING = 3,  // also at exit; what the recorders hold is read before the answer
};

struct adaptyst_announcement {
  uint32_t abi;     // ADAPTYST_ABI_VERSION
  uint32_t what;    // enum adaptyst_announced
  uint64_t object;  // address of the control block that announces
};

enum adaptyst_observation {
  ADAPTYST_UNOBSERVED = 0,
  ADAPTYST_OBSERVED_BY_RECORDER = 1,  // keep your own recorder awake
  ADAPTYST_OBSERVED_BY_PROBES = 2,    // the kernel has raised the semaphores that it needs
};

struct adaptyst_answer {
  uint32_t observation;  // enum adaptyst_observation
  uint32_t observer;     // its process id, and when it was started, in clock ticks since the machine was
  uint64_t observer_started;
  uint64_t ns_per_tick;  // how to read the processor's counter: see clock_line
  uint64_t base_ticks;
  uint64_t base_ns;
  uint64_t trace_entries;  // of each thread's ring for a timeline, a power of two; 0: none is wanted
};

#endif
