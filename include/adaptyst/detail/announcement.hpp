// The messages between an observer and a program that it has started.
//
// The environment variable ADAPTYST_OBSERVER names a socket of the observer (SOCK_SEQPACKET, abstract). The program
// connects, sends one announcement, receives one answer, and closes the connection. With its first announcement a
// process sends the descriptor of its store (SCM_RIGHTS), if the store is a file. With the answer to that, the observer
// sends the descriptor of the settings that it writes (observer_settings.hpp).
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
  uint64_t object;  // address of the control block of the ELF object
};

enum adaptyst_observation {
  ADAPTYST_UNOBSERVED = 0,
  ADAPTYST_OBSERVED_BY_RECORDER = 1,  // keep your own recorder awake
  ADAPTYST_OBSERVED_BY_PROBES = 2,    // nothing to do: with the probes, the kernel has raised their semaphores
};

struct adaptyst_answer {
  uint32_t observation;       // enum adaptyst_observation
  uint32_t observer;          // its process id
  uint64_t observer_started;  // in clock ticks since the machine was started
  uint64_t ns_per_tick;       // how to read the processor's counter: see clock_line
  uint64_t base_ticks;
  uint64_t base_ns;
  uint64_t trace_entries;  // room in each thread's ring for a timeline, a power of two; 0: no timeline is wanted
};

#endif
