/* The binary contract between an instrumented program and any tool that observes it: names and arguments of the probes,
 * the notes by which they are found, and the records that their pointers lead to. Plain C, for BPF programs as well;
 * 64-bit targets only. docs/probe-abi.md says the same in prose, with the promise of what may change.
 *
 * Provider "adaptyst". Every argument is an unsigned 64-bit integer or a pointer, in the ABI's argument registers:
 *
 *   region_begin(name, path_id, begin_ns, depth, path)            a region bound to a scope opens
 *   region_end  (name, path_id, begin_ns, end_ns, self_ns, path)  a region closes, or a device has done an operation;
 *               at two places: forked children fire the second, which the kernel never optimises
 *   metric      (name, path_id, value, path)                      value: the bits of an IEEE 754 double
 *   mark        (name, path_id, time_ns, path)                    an instant
 *   operation   (name, path_id, submitted_ns, started_ns, ended_ns, path)    with the operation's region_end
 *   thread      (recorder, layout)  once for each thread and collector; without a semaphore
 *
 *   name        const char *, NUL-terminated, the marker's name
 *   path_id     the call path as a number: equal paths are equal in every thread and process
 *   …_ns        CLOCK_MONOTONIC
 *   self_ns     duration less the time spent in nested regions of the same thread
 *   path        const struct adaptyst_path *
 *   recorder    what the thread knows of itself, in the layout that the number `layout` stands for: for our own collector
 */
#ifndef ADAPTYST_PROBE_ABI_H
#define ADAPTYST_PROBE_ABI_H

#ifdef __bpf__ /* the C library's headers do not know this target */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

enum {
  ADAPTYST_ABI_VERSION = 3,
  ADAPTYST_OBJECT_NOTE = 3,  /* n_type of the note in .note.adaptyst, owner "adaptyst" */
  ADAPTYST_TEXT_BYTES = 128, /* a name, file, function or label is kept to this length, the end marked by NUL */
  ADAPTYST_ATTRIBUTES = 8,   /* numeric members a payload may have */
};

/* What a marker is. */
enum adaptyst_site_kind {
  ADAPTYST_SITE_REGION = 0,
  ADAPTYST_SITE_OFFLOAD = 1, /* a region in which the host waits for a device */
  ADAPTYST_SITE_METRIC = 2,
  ADAPTYST_SITE_MARK = 3,
  ADAPTYST_SITE_FUNCTION = 4, /* no marker: a function on which a collector has put probes */
  ADAPTYST_SITE_HANDLE = 5,   /* a region that is ended by hand, perhaps on another thread */
  ADAPTYST_SITE_WAIT = 6,     /* a region in which the host waits for devices */
  ADAPTYST_SITE_CALLBACK = 7, /* a region that one call begins and another ends, on the same thread */
  ADAPTYST_SITE_KERNEL = 8,   /* from here on: operations, work submitted to a device */
  ADAPTYST_SITE_COPY_TO = 9,
  ADAPTYST_SITE_COPY_FROM = 10,
  ADAPTYST_SITE_FILL = 11,
  ADAPTYST_SITE_OTHER = 12,
};

/* One per ELF object, in its section .probes. The first four words count who listens: three of them are semaphores of
 * probes, which the kernel raises and lowers; `recorder` is raised by the collector or observer that reads the program's
 * own recorder. A marker runs its cold path while any of the four is not 0, hence one 8-byte comparison. */
struct adaptyst_object {
  uint16_t region_begin;
  uint16_t region_end;
  uint16_t event; /* metric, mark and operation share it */
  uint16_t recorder;
  uint64_t process;    /* address of the process's state, 0 until a marker is first awake */
  uint64_t unrecorded; /* events lost because there was no memory for that state */
};

/* A marker, copied out of its ELF object when it is first awake, and never freed: it survives dlclose(). */
struct adaptyst_site {
  uint64_t id;      /* hash of all that follows */
  const char* name; /* each text ends in NUL and is at most ADAPTYST_TEXT_BYTES − 1 long */
  const char* file;
  const char* function;
  const char* label;                           /* the payload's texts, "solver=cg", or empty */
  const char* attributes[ADAPTYST_ATTRIBUTES]; /* names of the payload's numeric members */
  uint32_t name_bytes;                         /* a name may hold NULs */
  uint32_t line;
  uint32_t kind; /* enum adaptyst_site_kind */
  uint16_t attribute_count;
  uint16_t level; /* enum adaptyst_level, or 0: the marker does not say how deep it stands */
  /* How its events are recorded, for our own collector: docs/probe-abi.md says what the numbers mean. */
  const uint64_t* step;
};

/* A call path: a marker below another path, on a device. Never freed. */
struct adaptyst_path {
  uint64_t id;
  const struct adaptyst_path* parent; /* NULL at the root of a thread */
  const struct adaptyst_site* site;
  uint32_t device; /* 0: the host's CPU */
  uint32_t depth;  /* 0 at the root */
};

#endif
