/* The kernel's data on a call path, in the form that the BPF programs for context leave for the collector. */
#ifndef ADAPTYST_PROBES_CONTEXT_LAYOUT_H
#define ADAPTYST_PROBES_CONTEXT_LAYOUT_H

#include "recorder_layout.h"

enum {
  ADAPTYST_CONTEXT_ROWS = 4096,
  ADAPTYST_CONTEXT_FIRST_ROWS = 512, /* these exist from the start; further ones are made when needed */
  ADAPTYST_CONTEXT_SYSCALLS = 512,
  ADAPTYST_CONTEXT_RECORDERS = 16384, /* at a time; further threads count as not announced */
};

/* Why a thread that could not run has left its core. */
enum adaptyst_blocked {
  ADAPTYST_BLOCKED_OTHER,
  ADAPTYST_BLOCKED_SLEEP, /* until a time */
  ADAPTYST_BLOCKED_LOCK,  /* a futex: mutexes, condition variables, barriers, joins */
  ADAPTYST_BLOCKED_IO,    /* a file, a socket, a pipe, or events of them */
  ADAPTYST_BLOCKED_REASONS
};

enum adaptyst_context_loss {
  ADAPTYST_CONTEXT_ROWS_FULL,  /* a stretch off the core, or a fault: no row for its path */
  ADAPTYST_CONTEXT_UNREADABLE, /* the same: the thread's recorder could not be read */
  ADAPTYST_CONTEXT_LAYOUT,     /* a thread: its recorder has the layout of other headers */
  ADAPTYST_CONTEXT_NO_MEMORY,  /* a thread: no memory for its entry */
  ADAPTYST_CONTEXT_NO_WAKEUP, /* a stretch without an observed wake-up: it counts as blocked; without a return, as time on a core */
  ADAPTYST_CONTEXT_THREADS,  /* no loss: number of threads that have announced themselves */
  ADAPTYST_CONTEXT_FAULTS,   /* no loss: page faults of these threads outside windows; estimated if some are skipped */
  ADAPTYST_CONTEXT_FAULT_NS, /* no loss: CPU time of the program on them, estimated from some of its runs */
  ADAPTYST_CONTEXT_SWITCHES, /* no loss: thread switches away from a core; estimated if some are skipped */
  ADAPTYST_CONTEXT_COUNTS
};

/* Page faults are recorded all the time, or in windows: attaching the programs for one takes an uncertain time, in which it
 * is closed. From ADAPTYST_WINDOW_FIRST on: the number of the open window. */
enum adaptyst_window { ADAPTYST_WINDOW_NONE, ADAPTYST_WINDOW_CLOSED, ADAPTYST_WINDOW_FIRST };

/* Page faults in all windows so far, for one call path. */
struct adaptyst_window_faults {
  uint64_t faults;
  uint64_t earlier; /* for each of them, how many the thread had in the same window before */
};

/* A sum of squared times, each in units of 2^ADAPTYST_SQUARE_UNIT_LOG2 ns: 2^32 * high + low. */
enum { ADAPTYST_SQUARE_UNIT_LOG2 = 6 };
struct adaptyst_square_sum {
  uint64_t low, high;
};

/* For one call path without those below it, on one CPU; keyed by the path's id, 0 outside all regions. */
struct adaptyst_context_row {
  uint64_t runnable_ns;
  uint64_t blocked_ns[ADAPTYST_BLOCKED_REASONS];
  uint64_t involuntary, voluntary; /* switches away: from a thread that could run on; and to wait */
  uint64_t migrations;
  uint64_t faults, major_faults;
  uint64_t fault_variance; /* of `faults`: 0 if all were recorded */
  /* Variances of the values above; 0 if all switches were recorded. */
  uint64_t involuntary_variance, voluntary_variance, migrations_variance;
  struct adaptyst_square_sum runnable_variance, blocked_variance;
};

/* The recorder that a thread has announced: the process number, as the collector knows it, and the recorder's
 * address. */
struct adaptyst_announced_recorder {
  uint64_t process;
  uint64_t recorder;
};

/* When the thread switches at some places were last recorded, in a coarse unit of time; see switch_sampling.h. */
enum { ADAPTYST_SWITCH_PLACES = 8 };
struct adaptyst_switch_places {
  uint32_t recorded_at[ADAPTYST_SWITCH_PLACES];
};

/* A thread that has announced itself. */
struct adaptyst_context_thread {
  uint64_t image;    /* program_image() */
  uint64_t recorder; /* its address; 0: the thread has run no marker yet */
  uint64_t left_ns;  /* when the thread left its core; 0: it is on a core */
  uint64_t woken_ns; /* when it began to wait for a core; 0: it is blocked */
  uint64_t path;     /* path at that time */
  uint64_t major_faults;
  uint64_t faulted; /* path of the last page fault that was recorded or blocked the thread */
  uint32_t reason;  /* enum adaptyst_blocked */
  uint32_t core;
  uint32_t weight;        /* the number of switches for which this one counts */
  uint32_t window;        /* the last window with a recorded page fault */
  uint64_t faults_before; /* the thread's page faults before this one */
  struct adaptyst_switch_places places;
};

#endif
