// Messages between an observer and a program that it started.
//
// The environment variable ADAPTYST_OBSERVER names a socket of the observer (SOCK_SEQPACKET, abstract). The program
// connects, sends one announcement, receives one answer, and disconnects. If the store is a file, the first
// announcement carries its descriptor (SCM_RIGHTS). The answer then carries that of the observer's settings
// (observer_settings.hpp).
#ifndef ADAPTYST_DETAIL_ANNOUNCEMENT_HPP
#define ADAPTYST_DETAIL_ANNOUNCEMENT_HPP

#include "../probe_abi.h"

enum adaptyst_announced {
  ADAPTYST_OBJECT_LOADED = 1,  // an ELF object with markers, before its constructors
  ADAPTYST_PROCESS_FORKED = 2,
  ADAPTYST_OBJECT_UNLOADING = 3,  // also at exit; the observer reads the recorders before it answers
};

struct adaptyst_announcement {
  uint32_t abi;     // ADAPTYST_ABI_VERSION
  uint32_t what;    // enum adaptyst_announced
  uint64_t object;  // address of the control block of the ELF object
};

enum adaptyst_observation {
  ADAPTYST_UNOBSERVED = 0,
  ADAPTYST_OBSERVED_BY_RECORDER = 1,  // keep the program's recorder enabled
  ADAPTYST_OBSERVED_BY_PROBES = 2,    // nothing to do: the kernel has raised the semaphores of the probes
};

struct adaptyst_answer {
  uint32_t observation;       // enum adaptyst_observation
  uint32_t observer;          // its pid
  uint64_t observer_started;  // in clock ticks since boot
  uint64_t ns_per_tick;       // conversion of the processor's counter, see clock_line
  uint64_t base_ticks;
  uint64_t base_ns;
  uint64_t trace_entries;  // size of each thread's ring for a timeline, a power of two; 0: no timeline
};

#endif
