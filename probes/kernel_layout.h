/* The maps through which BPF programs pass data to the collector. Plain C, one definition for both sides. */
#ifndef ADAPTYST_PROBES_KERNEL_LAYOUT_H
#define ADAPTYST_PROBES_KERNEL_LAYOUT_H

#include <adaptyst/detail/histogram.h>
#include <adaptyst/probe_abi.h>

enum {
  ADAPTYST_KERNEL_PATHS = 65536,
  /* The number of parts of all rows. Unnecessary parts leave room for one part per path, and each CPU may exceed their
   * limit by one. The kernel makes the whole table at once: 4 MiB for 262,144 parts. */
  ADAPTYST_KERNEL_PARTS = 262144,
  ADAPTYST_KERNEL_PARTS_OF_FEW = 131072, /* on a machine of at most ADAPTYST_KERNEL_FEW_CPUS */
  ADAPTYST_KERNEL_FEW_CPUS = 32,
  ADAPTYST_KERNEL_PARTS_RESERVED = ADAPTYST_KERNEL_PATHS + 16384,
  ADAPTYST_KERNEL_BUCKETS = 16, /* of the histogram, in a part of a row */
  ADAPTYST_KERNEL_COUNT_BITS = 54,
  ADAPTYST_KERNEL_PART = 65536,
  ADAPTYST_KERNEL_SHARED = 65535, /* instead of a CPU's number: the row of all that have no separate row */
  ADAPTYST_KERNEL_GROUP = 64 * ADAPTYST_KERNEL_PART, /* more than the parts of a row */
  ADAPTYST_KERNEL_GROUPS = 512,                      /* places fit in a positive int */
  ADAPTYST_KERNEL_SITES = 65536,
  ADAPTYST_KERNEL_PROCESSES = 16384, /* at a time */
};

/* Why the BPF programs lost an event, or could not store all its data. */
enum adaptyst_kernel_loss {
  ADAPTYST_KERNEL_ROWS_FULL,  /* event lost: the maximum number of paths is reached */
  ADAPTYST_KERNEL_NO_MEMORY,  /* event lost: the kernel had no memory available for a row */
  ADAPTYST_KERNEL_BUSY,       /* event lost: the map could not be changed at that moment */
  ADAPTYST_KERNEL_UNREADABLE, /* path not named: the program's memory could not be read */
  ADAPTYST_KERNEL_NAMES_FULL, /* path not named: no room */
  ADAPTYST_KERNEL_LOSSES
};

/* The place of a part of a row: part 0 has the sums, part 1 + n the events of buckets n * 16 to n * 16 + 15 that did
 * not fit into part 0. Group 0 is for processes that are not distinguished; each rank of a program has a separate
 * group, for comparison. Packed: a key of twelve bytes is hashed in one step, like one of eight bytes. One number
 * instead of two: the kernel reads it at once, and would otherwise wait for two stores. */
struct adaptyst_kernel_row_key {
  uint64_t path;
  /* number of the CPU + ADAPTYST_KERNEL_PART * number of the part + ADAPTYST_KERNEL_GROUP * number of the group */
  uint32_t place;
} __attribute__((packed, aligned(4)));

/* A part of the sums of one call path on one CPU, made when it is first needed. The parts are added up: the number of
 * events is the sum of all buckets plus `unbucketed`. In part 0, every sixteenth bucket of the histogram prefers the same
 * place: the first of these buckets to need it takes it, and writes its number into it. The others use another place or
 * a further part. Most paths therefore need one part and one lookup, even if they once took much longer. In all other
 * parts, everything but buckets is zero. */
struct adaptyst_kernel_row {
  uint64_t total_ns;
  uint64_t child_ns; /* in nested regions; most have none, and need no addition */
  uint64_t max_ns;
  uint64_t min_complement;                   /* ~minimum, so that a row of zeros is empty */
  uint64_t unbucketed;                       /* counted without their duration: no room for a part */
  uint64_t buckets[ADAPTYST_KERNEL_BUCKETS]; /* count, and above ADAPTYST_KERNEL_COUNT_BITS the bucket's number + 1 */
};

/* A path by its id; the parent may not have been read yet. */
struct adaptyst_kernel_path {
  uint64_t parent; /* 0 at the root */
  uint64_t site;
  uint64_t marker; /* of a marker's path: its id in the program, which does not know the functions around it */
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

/* An observed process: the addresses of a control block and of its state; each may be 0. And the group of its rows: the
 * number times ADAPTYST_KERNEL_GROUP. */
struct adaptyst_kernel_process {
  uint64_t object;
  uint64_t state;
  uint64_t group;
};

/* Selects the processes: all, one, or those in the map `processes`; by their numbers in a PID namespace, the first
 * namespace if the inode is 0. */
struct adaptyst_kernel_filter {
  uint64_t namespace_device;
  uint64_t namespace_inode;
  uint32_t pid; /* 0: not a single process */
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
