/* Binary interface between an instrumented program and observing tools: names and arguments of the probes, the notes
 * that locate them, and the records behind their pointers. Plain C, also for BPF programs; 64-bit targets only.
 * docs/probe-abi.md has the same in prose, and states which parts may change.
 *
 * Provider "adaptyst". Every argument is an unsigned 64-bit integer or a pointer, in the ABI's argument registers:
 *
 *   region_begin(name, path_id, begin_ns, depth, path)            a region bound to a scope opens
 *   region_end  (name, path_id, begin_ns, end_ns, self_ns, path)  a region closes, or a device has done an operation;
 *               at two places: forked children fire the second, which the kernel never optimises
 *   metric      (name, path_id, value, path)                      value: the bits of an IEEE 754 double
 *   mark        (name, path_id, time_ns, path)                    an instant event
 *   operation   (name, path_id, submitted_ns, started_ns, ended_ns, path)    with the operation's region_end
 *   thread      (recorder, layout)  once per thread and collector; without a semaphore
 *
 *   name        const char *, NUL-terminated, the marker's name
 *   path_id     number of the call path: equal paths have equal numbers in every thread and process
 *   …_ns        CLOCK_MONOTONIC
 *   self_ns     duration less the time in nested regions of the same thread
 *   path        const struct adaptyst_path *
 *   recorder    the thread's recorder, in the layout with number `layout`; for adaptyst's collector only */
#ifndef ADAPTYST_PROBE_ABI_H
#define ADAPTYST_PROBE_ABI_H

#ifdef __bpf__ /* the C library's headers do not support this target */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

enum {
  ADAPTYST_ABI_VERSION = 5,
  ADAPTYST_OBJECT_NOTE = 5,  /* n_type of the note in .note.adaptyst, owner "adaptyst" */
  ADAPTYST_TEXT_BYTES = 128, /* length of a kept name, file, function or label, with NUL */
  ADAPTYST_ATTRIBUTES = 8,   /* most numeric members of a payload */
};

/* The kind of a marker. */
enum adaptyst_site_kind {
  ADAPTYST_SITE_REGION = 0,
  ADAPTYST_SITE_OFFLOAD = 1, /* a region in which the host waits for a device */
  ADAPTYST_SITE_METRIC = 2,
  ADAPTYST_SITE_MARK = 3,
  ADAPTYST_SITE_FUNCTION = 4, /* no marker: a function with probes of a collector */
  ADAPTYST_SITE_HANDLE = 5,   /* a region that is ended explicitly, perhaps on another thread */
  ADAPTYST_SITE_WAIT = 6,     /* a region in which the host waits for devices */
  ADAPTYST_SITE_CALLBACK = 7, /* begun by one call and ended by another, on the same thread */
  ADAPTYST_SITE_KERNEL = 8,   /* from here on: operations, work submitted to a device */
  ADAPTYST_SITE_COPY_TO = 9,
  ADAPTYST_SITE_COPY_FROM = 10,
  ADAPTYST_SITE_FILL = 11,
  ADAPTYST_SITE_OTHER = 12,
  ADAPTYST_SITE_HEAP = 13, /* allocations and frees, added to the enclosing region */
};

/* One per ELF object, in its section .probes. The first four words count attached tools. Three are semaphores of
 * probes, which the kernel raises and lowers. The collector or observer that reads the program's recorder raises
 * `recorder`. A marker runs its cold path while any word is not 0: one 8-byte comparison. */
struct adaptyst_object {
  uint16_t region_begin;
  uint16_t region_end;
  uint16_t event; /* shared by metric, mark and operation */
  uint16_t recorder;
  uint64_t process;    /* address of the process's state, 0 until a marker is first enabled */
  uint64_t unrecorded; /* events lost because no memory was free for that state */
};

/* A marker, copied from its ELF object when it is first enabled. Never freed: it survives dlclose(). */
struct adaptyst_site {
  uint64_t id;      /* hash of the texts, line, kind and level */
  const char* name; /* each text ends in NUL and is at most ADAPTYST_TEXT_BYTES − 1 long */
  const char* file;
  const char* function;
  const char* label;                           /* the payload's texts, "solver=cg", or empty */
  const char* attributes[ADAPTYST_ATTRIBUTES]; /* names of the payload's numeric members */
  uint32_t name_bytes;                         /* a name may contain NULs */
  uint32_t line;
  uint32_t kind; /* enum adaptyst_site_kind */
  uint16_t attribute_count;
  uint16_t level; /* enum adaptyst_level; 0: no level given */
  /* How its events are recorded, for adaptyst's collector; docs/probe-abi.md lists the values. */
  const uint64_t* step;
  uint32_t color; /* of its events in viewers: 0xFFRRGGBB, or 0. May be set later, once. */
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
