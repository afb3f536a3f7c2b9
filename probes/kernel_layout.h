/* What the BPF programs leave in their maps for the collector to read. Plain C, one definition for both sides. */
#ifndef ADAPTYST_PROBES_KERNEL_LAYOUT_H
#define ADAPTYST_PROBES_KERNEL_LAYOUT_H

#include <adaptyst/detail/histogram.h>
#include <adaptyst/probe_abi.h>

enum {
  ADAPTYST_KERNEL_PATHS = 65536,
  ADAPTYST_KERNEL_PARTS = 262144, /* of all rows together; those that could be done without leave room for one a path */
  /* Each CPU may overshoot by one. */
  ADAPTYST_KERNEL_PARTS_LIMIT = ADAPTYST_KERNEL_PARTS - ADAPTYST_KERNEL_PATHS - 16384,
  ADAPTYST_KERNEL_BUCKETS = 16, /* of the histogram, in a part of a row */
  ADAPTYST_KERNEL_COUNT_BITS = 54,
  ADAPTYST_KERNEL_PART = 65536,
  ADAPTYST_KERNEL_SHARED = 65535,                    /* in place of a CPU's number: all that have no row of their own */
  ADAPTYST_KERNEL_GROUP = 64 * ADAPTYST_KERNEL_PART, /* more than the parts of a row */
  ADAPTYST_KERNEL_GROUPS = 512,                      /* places fit in a positive int */
  ADAPTYST_KERNEL_SITES = 65536,
  ADAPTYST_KERNEL_PROCESSES = 65536,
};

/* Why the kernel's side lost an event, or could not keep all that it knows of it. */
enum adaptyst_kernel_loss {
  ADAPTYST_KERNEL_ROWS_FULL,  /* event lost: there are as many paths as there may be */
  ADAPTYST_KERNEL_NO_MEMORY,  /* event lost: the kernel had none at hand for a row */
  ADAPTYST_KERNEL_BUSY,       /* event lost: the map could not be changed at that moment */
  ADAPTYST_KERNEL_UNREADABLE, /* path not named: the program's memory could not be read */
  ADAPTYST_KERNEL_NAMES_FULL, /* path not named: no room */
  ADAPTYST_KERNEL_LOSSES
};

/* Where a part of a row stands: part 0 has its sums, part 1 + n what it could not keep of buckets n * 16 to n * 16 + 15.
 * Group 0 is of processes that are not distinguished; each rank of a program has another one, so that ranks can be compared.
 * Packed, since a key of twelve bytes is hashed in one turn, as one of eight would be; and one number for two, since the
 * kernel reads it as one, and would have to wait for two stores to meet. */
struct adaptyst_kernel_row_key {
  uint64_t path;
  /* number of the CPU + ADAPTYST_KERNEL_PART * number of the part + ADAPTYST_KERNEL_GROUP * number of the group */
  uint32_t place;
} __attribute__((packed, aligned(4)));

/* A part of what one call path did on one CPU, made when it is first needed. All parts add up: it ran as often as all
 * buckets say, and `unbucketed` times more. Each bucket of the histogram has one place in part 0, which every sixteenth
 * shares: it is that of the first one that needs it, and says so. So most paths need one part and one look-up, those too
 * that once took much longer. In all other parts everything but buckets is zero. */
struct adaptyst_kernel_row {
  uint64_t total_ns;
  uint64_t child_ns; /* in nested regions; most have none, and need no addition */
  uint64_t max_ns;
  uint64_t min_complement;                   /* ~minimum, so that a row of zeros is an empty one */
  uint64_t unbucketed;                       /* counted without their duration: no room for a part */
  uint64_t buckets[ADAPTYST_KERNEL_BUCKETS]; /* count, and above ADAPTYST_KERNEL_COUNT_BITS the bucket's number + 1 */
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
  uint32_t level;
  char name[ADAPTYST_TEXT_BYTES];
  char file[ADAPTYST_TEXT_BYTES];
  char function[ADAPTYST_TEXT_BYTES];
  char label[ADAPTYST_TEXT_BYTES];
};

/* What is known of a process that is observed: where a control block of it is, and its state; each may be 0. And in which
 * group its rows are: the number times ADAPTYST_KERNEL_GROUP. */
struct adaptyst_kernel_process {
  uint64_t object;
  uint64_t state;
  uint64_t group;
};

/* Which processes count: all, one, or those that the map `processes` lists; by their numbers in a PID namespace, the
 * first one if the inode is 0. */
struct adaptyst_kernel_filter {
  uint64_t namespace_device;
  uint64_t namespace_inode;
  uint32_t pid; /* 0: not a single one */
  uint32_t listed;
};

#ifdef __cplusplus
#define ADAPTYST_RECORD_CHECK static_assert
#else
#define ADAPTYST_RECORD_CHECK _Static_assert
#endif
ADAPTYST_RECORD_CHECK(sizeof(struct adaptyst_kernel_row) == 40 + 8 * ADAPTYST_KERNEL_BUCKETS, "read by the collector");
ADAPTYST_RECORD_CHECK(sizeof(struct adaptyst_kernel_row_key) == 12, "read by the collector");
ADAPTYST_RECORD_CHECK(sizeof(struct adaptyst_kernel_path) == 32, "read by the collector");
ADAPTYST_RECORD_CHECK(sizeof(struct adaptyst_kernel_site) == 16 + 4 * ADAPTYST_TEXT_BYTES, "read by the collector");

#undef ADAPTYST_RECORD_CHECK

#endif
