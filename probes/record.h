/* What the BPF programs leave in their maps for the collector to read. Plain C, one definition for both sides. */
#ifndef ADAPTYST_PROBES_RECORD_H
#define ADAPTYST_PROBES_RECORD_H

#include <adaptyst/histogram.h>
#include <adaptyst/probe_abi.h>

enum {
  ADAPTYST_KERNEL_ROWS = 4096,
  ADAPTYST_KERNEL_GROUPS = 4096, /* of buckets, of all rows together: a row uses as many as its durations spread over */
  ADAPTYST_KERNEL_GROUP = 16,    /* buckets */
  ADAPTYST_KERNEL_SITES = 4096,
  ADAPTYST_KERNEL_PROCESSES = 65536,
};

/* Why the kernel's side lost an event, or could not keep all that it knows of it. */
enum adaptyst_kernel_loss {
  ADAPTYST_KERNEL_ROWS_FULL,  /* event lost: no row for its path */
  ADAPTYST_KERNEL_BUSY,       /* event lost: the map could not be changed at that moment */
  ADAPTYST_KERNEL_UNREADABLE, /* path not named: the program's memory could not be read */
  ADAPTYST_KERNEL_NAMES_FULL, /* path not named: no room */
  ADAPTYST_KERNEL_LOSSES
};

/* Adjacent buckets of a histogram. */
struct adaptyst_kernel_group {
  uint64_t counts[ADAPTYST_KERNEL_GROUP];
};

/* One call path on one CPU; keyed by its path's id. It ran as often as its buckets say, and `unbucketed` times more. The
 * first group of buckets that is needed stands in the row, since most paths need few: no second look-up for it. */
struct adaptyst_kernel_row {
  uint64_t total_ns;
  uint64_t child_ns; /* in nested regions; most have none, and need no addition */
  uint64_t max_ns;
  uint64_t min_complement; /* ~minimum, so that a row of zeros is an empty one */
  uint64_t unbucketed;     /* counted without their duration: no room for a group */
  uint64_t own_group;      /* number of the group in the row, plus 1; 0: none yet */
  struct adaptyst_kernel_group group;
};

/* Key of the other groups: group `number` holds the buckets from number * ADAPTYST_KERNEL_GROUP on. */
struct adaptyst_kernel_group_key {
  uint64_t path;
  uint64_t number;
};

/* A path by its id; the parent's may not have been seen yet. */
struct adaptyst_kernel_path {
  uint64_t parent; /* 0 at the root */
  uint64_t site;
  uint64_t marker; /* of a marker's path: its id in the program, which knows nothing of functions around it */
  uint32_t device;
  uint32_t pad;
};

/* A marker by its id. */
struct adaptyst_kernel_site {
  uint32_t name_bytes;
  uint32_t line;
  uint32_t kind;
  uint32_t pad;
  char name[ADAPTYST_TEXT_BYTES];
  char file[ADAPTYST_TEXT_BYTES];
  char function[ADAPTYST_TEXT_BYTES];
  char label[ADAPTYST_TEXT_BYTES];
};

/* What is known of a process that is observed: where a control block of it is, and its state; each may be 0. */
struct adaptyst_kernel_process {
  uint64_t object;
  uint64_t state;
};

/* Whom to listen to: everybody, one process, or those that the map `processes` lists; by their numbers in a PID
 * namespace, the first one if the inode is 0. */
struct adaptyst_kernel_filter {
  uint64_t namespace_device;
  uint64_t namespace_inode;
  uint32_t pid; /* 0: not one */
  uint32_t listed;
};

#ifdef __cplusplus
#define ADAPTYST_RECORD_CHECK static_assert
#else
#define ADAPTYST_RECORD_CHECK _Static_assert
#endif
ADAPTYST_RECORD_CHECK(sizeof(struct adaptyst_kernel_row) == 48 + 8 * ADAPTYST_KERNEL_GROUP, "read by the collector");
ADAPTYST_RECORD_CHECK(sizeof(struct adaptyst_kernel_group_key) == 16, "read by the collector");
ADAPTYST_RECORD_CHECK(sizeof(struct adaptyst_kernel_path) == 32, "read by the collector");
ADAPTYST_RECORD_CHECK(sizeof(struct adaptyst_kernel_site) == 16 + 4 * ADAPTYST_TEXT_BYTES, "read by the collector");

#undef ADAPTYST_RECORD_CHECK

#endif
