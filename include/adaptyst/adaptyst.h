/* Markers for C, with the same probes, call tree and report as those of C++ (adaptyst.hpp) and Fortran
 * (docs/fortran.md).
 *
 *   #include <adaptyst/adaptyst.h>
 *
 *   void advect(struct field *f) {
 *     ADAPTYST_REGION("advect");            // ends with the block, on every way out
 *     ...
 *   }
 *
 *   ADAPTYST_PHASES("load");              // consecutive regions of one block, with one timestamp between two
 *   ...
 *   ADAPTYST_NEXT("compute");             // ends "load" and begins "compute"; the block ends the last
 *
 *   ADAPTYST_BEGIN("exchange");            // ends at the next end on this thread, perhaps in another function
 *   ...
 *   ADAPTYST_END();
 *
 * Link with -ladaptyst_c (CMake target adaptyst::c), a static library that needs only the C library and is hidden in
 * each ELF object. collector.h has a collector; `adaptyst run` needs none.
 *
 * C99 or later, GCC or clang; C++ as well. From C++17 on, macros of the C++ headers with the same name apply. Names
 * are string literals; macros that end in _NAMED accept any NUL-terminated text. A name keeps 127 bytes.
 *
 * Cost when idle: a comparison and a branch at the begin of a region; at its end a register test, or a comparison
 * for ADAPTYST_END. Values of metrics are not evaluated. When enabled: docs/overhead.md.
 *
 * Thread-safe, also in signal handlers: an event that interrupts the recorder of its own thread is counted as lost.
 * A marker never fails, and leaves errno, the heap and signals unchanged. A region left by longjmp() is counted as
 * unmatched. With -DADAPTYST_DISABLE, markers are compiled away; arguments are still checked. */
#ifndef ADAPTYST_ADAPTYST_H
#define ADAPTYST_ADAPTYST_H

#include "detail/c_markers.h"

/* A scope: from this line to the end of the block. The macro is a declaration: before C23, no label may directly
 * precede it. */
#ifdef ADAPTYST_DETAIL_CXX_HEADERS
#define ADAPTYST_REGION_NAMED(name) ADAPTYST_REGION(name)
#else
#define ADAPTYST_REGION(name) ADAPTYST_DETAIL_C_SCOPE(ADAPTYST_SITE_REGION, __COUNTER__, name)
#define ADAPTYST_REGION_NAMED(name) ADAPTYST_DETAIL_C_SCOPE_NAMED(__COUNTER__, name)
/* The name is that of the enclosing function. */
#define ADAPTYST_FUNCTION() ADAPTYST_DETAIL_C_FUNCTION(__COUNTER__)
/* Phases: a declaration that begins the first, and statements in its block that end the running phase and begin the
 * next at the same instant. A phase that an overhead budget samples has two timestamps of its own. A called function
 * cannot end them. A nested block may have phases of its own; -Wshadow reports their variable. */
#define ADAPTYST_PHASES(name) ADAPTYST_DETAIL_C_PHASES(__COUNTER__, name)
#define ADAPTYST_NEXT(name) ADAPTYST_DETAIL_C_NEXT(name)
/* ADAPTYST_OFFLOAD: the host hands work to a device and waits. ADAPTYST_WAIT: the host waits for work submitted
 * before. */
#define ADAPTYST_OFFLOAD(name, device) ADAPTYST_DETAIL_C_OFFLOAD(__COUNTER__, name, device)
#define ADAPTYST_WAIT(name) ADAPTYST_DETAIL_C_SCOPE(ADAPTYST_SITE_WAIT, __COUNTER__, name)
#endif

/* A pair: its begin and end may be in different blocks or functions of one thread. ADAPTYST_END ends the innermost
 * open pair.
 * Counted as unmatched: an end without a begin, or with a begin before the collector started; a begin that is open
 * when its enclosing region ends, or when the same call repeats it. */
#ifdef ADAPTYST_DETAIL_CXX_HEADERS
#define ADAPTYST_BEGIN_NAMED(name) ADAPTYST_BEGIN(name)
#else
#define ADAPTYST_BEGIN(name) ADAPTYST_DETAIL_C_BEGIN(name)
#define ADAPTYST_BEGIN_NAMED(name) ADAPTYST_DETAIL_C_BEGIN_NAMED(name)
#define ADAPTYST_END() ADAPTYST_DETAIL_C_END()
#endif

/* A handle: any thread may end it, in any order.
 *
 *   adaptyst_handle halo = ADAPTYST_HANDLE_BEGIN("halo exchange");
 *   ...
 *   adaptyst_end_handle(&halo);
 *
 * Plain data, 24 bytes; all zero means no region. End only one copy: a second end is counted as unmatched. Without
 * an end, the region stays open in the account. From C++17 on, this is the handle of region.hpp. */
#ifndef ADAPTYST_DETAIL_CXX_HEADERS
#define ADAPTYST_HANDLE_BEGIN(name) ADAPTYST_DETAIL_C_HANDLE(name)
#endif

/* Both belong to the open region. A metric is a number of any arithmetic type, with count, sum, minimum and maximum.
 * A mark is an instant event. */
#ifndef ADAPTYST_DETAIL_CXX_HEADERS
#define ADAPTYST_METRIC(name, value) ADAPTYST_DETAIL_C_INSTANT(ADAPTYST_SITE_METRIC, name, (double)(value))
#define ADAPTYST_MARK(name) ADAPTYST_DETAIL_C_INSTANT(ADAPTYST_SITE_MARK, name, 0.0)
#endif

/* A device: static const adaptyst_device gpu = ADAPTYST_DEVICE(ADAPTYST_DEVICE_GPU, 0, "H200");
 *
 * Kind, index and name (up to 39 bytes) identify a device. A process has at most 63 devices. */
enum adaptyst_device_kind {
  ADAPTYST_DEVICE_CPU,
  ADAPTYST_DEVICE_GPU,
  ADAPTYST_DEVICE_FPGA,
  ADAPTYST_DEVICE_ACCELERATOR,
  ADAPTYST_DEVICE_OTHER
};
#define ADAPTYST_DEVICE(kind, index, name) ADAPTYST_DETAIL_C_DEVICE(kind, index, name)

/* An operation: asynchronous work of a device (details: operation.hpp).
 *
 *   adaptyst_operation copy = ADAPTYST_SUBMIT_WORK("upload", gpu, queue, ADAPTYST_COPY_TO, bytes, 0);
 *   ...                                    // any thread, any time later
 *   adaptyst_complete(&copy, started_ns, ended_ns);
 *
 * `name`: any text. `queue`: the integer by which the program numbers its queues. Plain data; if an operation is
 * copied, complete only one copy. */
enum adaptyst_operation_kind { ADAPTYST_KERNEL, ADAPTYST_COPY_TO, ADAPTYST_COPY_FROM, ADAPTYST_FILL, ADAPTYST_OTHER };
#define ADAPTYST_SUBMIT(name, device, queue, kind) ADAPTYST_DETAIL_C_SUBMIT(name, device, queue, kind, 0, 0, 0)
#define ADAPTYST_SUBMIT_WORK(name, device, queue, kind, bytes, flops) \
  ADAPTYST_DETAIL_C_SUBMIT(name, device, queue, kind, 1, bytes, flops)

/* Reasons why an operation has no times: the device did not report them, its clock cannot be converted, or the
 * operation never ends. */
enum adaptyst_operation_loss { ADAPTYST_NO_TIMES, ADAPTYST_UNKNOWN_CLOCK, ADAPTYST_DEVICE_LOST };

/* Ends the region of a handle. */
static inline void adaptyst_end_handle(adaptyst_handle* handle) {
#if defined(ADAPTYST_DETAIL_CXX_HEADERS)
  handle->end();
#elif defined(ADAPTYST_DISABLE)
  (void)handle;
#else
  /* NOLINTNEXTLINE(modernize-use-nullptr): C has none */
  if (ADAPTYST_DETAIL_C_UNLIKELY(handle->path != NULL)) adaptyst_c_end_handle(handle);
#endif
}

/* Start and end on the device in ns of CLOCK_MONOTONIC, with submitted <= started <= ended. Other times are counted
 * as lost (bad_times). A second call does nothing. */
static inline void adaptyst_complete(adaptyst_operation* operation, uint64_t started_ns, uint64_t ended_ns) {
#ifdef ADAPTYST_DISABLE
  (void)operation, (void)started_ns, (void)ended_ns;
#else
  /* NOLINTNEXTLINE(modernize-use-nullptr): C has none */
  if (ADAPTYST_DETAIL_C_UNLIKELY(operation->begun.path != NULL)) adaptyst_c_complete(operation, started_ns, ended_ns);
#endif
}

/* Counts the operation as lost, with this reason. */
static inline void adaptyst_abandon(adaptyst_operation* operation, enum adaptyst_operation_loss reason) {
#ifdef ADAPTYST_DISABLE
  (void)operation, (void)reason;
#else
  /* NOLINTNEXTLINE(modernize-use-nullptr): C has none */
  if (ADAPTYST_DETAIL_C_UNLIKELY(operation->begun.path != NULL)) adaptyst_c_abandon(operation, (uint32_t)reason);
#endif
}

/* Describes the run: adaptyst_metadata("mesh", "512^3"). Names keep 63 bytes, values 255; a process keeps 64
 * entries. Cost: 0.1 us, enabled or idle (metric.hpp). */
static inline void adaptyst_metadata(const char* name, const char* value) {
#ifdef ADAPTYST_DISABLE
  (void)name, (void)value;
#else
  adaptyst_c_metadata(name, value);
#endif
}

#endif
