/* Markers for C: the same probes, call tree and report as those of C++ (adaptyst.hpp) and Fortran (docs/fortran.md).
 *
 *   #include <adaptyst/adaptyst.h>
 *
 *   void advect(struct field *f) {
 *     ADAPTYST_REGION("advect");            // to the end of the block, on every way out
 *     ...
 *   }
 *
 *   ADAPTYST_BEGIN("exchange");            // to the end that comes next on this thread, perhaps in another function
 *   ...
 *   ADAPTYST_END();
 *
 * Link with -ladaptyst_c, CMake's target adaptyst::c: a small static library, hidden in each ELF object, which needs the C
 * library only. A collector is in collector.h; `adaptyst run` needs none.
 *
 * C99 or later, GCC or clang; C++ as well. From C++17 on, a macro that the C++ headers have under the same name is theirs:
 * regions, pairs, handles, offloads, waits, metrics and marks. Names are string literals; where a macro ends in _NAMED, any
 * text that ends in NUL. They keep their first 127 bytes.
 *
 * Cost while nothing listens: a comparison and a branch where a region begins; where it ends a register test, or for
 * ADAPTYST_END a comparison. Values of metrics are not evaluated. Awake: docs/overhead.md. Any thread; nothing fails; errno,
 * heap and signals stay as they are. A signal handler may have markers: one that interrupts its own thread's recorder is
 * counted as lost. What is left by longjmp() is counted as unmatched. With -DADAPTYST_DISABLE nothing is left of a marker,
 * and its arguments are still checked.
 */
#ifndef ADAPTYST_ADAPTYST_H
#define ADAPTYST_ADAPTYST_H

#include "detail/c_markers.h"

/* A scope: from here to the end of the block, however that is left. A declaration: before C23, no label may stand right in
 * front of it. */
#ifdef ADAPTYST_DETAIL_CXX_HEADERS
#define ADAPTYST_REGION_NAMED(name) ADAPTYST_REGION(name)
#else
#define ADAPTYST_REGION(name) ADAPTYST_DETAIL_C_SCOPE(ADAPTYST_SITE_REGION, __COUNTER__, name)
#define ADAPTYST_REGION_NAMED(name) ADAPTYST_DETAIL_C_SCOPE_NAMED(__COUNTER__, name)
/* Named after the enclosing function. */
#define ADAPTYST_FUNCTION() ADAPTYST_DETAIL_C_FUNCTION(__COUNTER__)
/* One in which the host hands work to a device and waits for it; one in which it waits for what was submitted. */
#define ADAPTYST_OFFLOAD(name, device) ADAPTYST_DETAIL_C_OFFLOAD(__COUNTER__, name, device)
#define ADAPTYST_WAIT(name) ADAPTYST_DETAIL_C_SCOPE(ADAPTYST_SITE_WAIT, __COUNTER__, name)
#endif

/* A pair, whose begin and end may be in different blocks or functions of one thread. ADAPTYST_END ends the innermost pair
 * that is open. Counted as unmatched: an end without a begin, also if the begin was passed before a collector started; a
 * begin that is still open when a region around it ends, or when the same call passes the same begin again. */
#ifdef ADAPTYST_DETAIL_CXX_HEADERS
#define ADAPTYST_BEGIN_NAMED(name) ADAPTYST_BEGIN(name)
#else
#define ADAPTYST_BEGIN(name) ADAPTYST_DETAIL_C_BEGIN(name)
#define ADAPTYST_BEGIN_NAMED(name) ADAPTYST_DETAIL_C_BEGIN_NAMED(name)
#define ADAPTYST_END() ADAPTYST_DETAIL_C_END()
#endif

/* A handle: begun here, ended by any thread, in any order.
 *
 *   adaptyst_handle halo = ADAPTYST_HANDLE_BEGIN("halo exchange");
 *   ...
 *   adaptyst_end_handle(&halo);
 *
 * Plain data, 24 bytes. All zero: of no region. A second end is counted as unmatched; of copies, end one only. One that is
 * never ended stays open in the account. From C++17 on: the handle of region.hpp. */
#ifndef ADAPTYST_DETAIL_CXX_HEADERS
#define ADAPTYST_HANDLE_BEGIN(name) ADAPTYST_DETAIL_C_HANDLE(name)
#endif

/* In whatever region is open: a number of any arithmetic type, with count, sum, minimum and maximum; and an instant. */
#ifndef ADAPTYST_DETAIL_CXX_HEADERS
#define ADAPTYST_METRIC(name, value) ADAPTYST_DETAIL_C_INSTANT(ADAPTYST_SITE_METRIC, name, (double)(value))
#define ADAPTYST_MARK(name) ADAPTYST_DETAIL_C_INSTANT(ADAPTYST_SITE_MARK, name, 0.0)
#endif

/* A device: static const adaptyst_device gpu = ADAPTYST_DEVICE(ADAPTYST_DEVICE_GPU, 0, "H200");
 *
 * Kind, index and name, of up to 39 bytes, make the identity: equal ones are one device. At most 63 in a process. */
enum adaptyst_device_kind {
  ADAPTYST_DEVICE_CPU,
  ADAPTYST_DEVICE_GPU,
  ADAPTYST_DEVICE_FPGA,
  ADAPTYST_DEVICE_ACCELERATOR,
  ADAPTYST_DEVICE_OTHER
};
#define ADAPTYST_DEVICE(kind, index, name) ADAPTYST_DETAIL_C_DEVICE(kind, index, name)

/* An operation: what a device does on its own, while the host goes on (operation.hpp says more).
 *
 *   adaptyst_operation copy = ADAPTYST_SUBMIT_WORK("upload", gpu, queue, ADAPTYST_COPY_TO, bytes, 0);
 *   ...                                    // any thread, any time later
 *   adaptyst_complete(&copy, started_ns, ended_ns);
 *
 * `name`: any text. `queue`: an integer, whatever the program numbers its queues by. Plain data; of copies, complete one
 * only. */
enum adaptyst_operation_kind { ADAPTYST_KERNEL, ADAPTYST_COPY_TO, ADAPTYST_COPY_FROM, ADAPTYST_FILL, ADAPTYST_OTHER };
#define ADAPTYST_SUBMIT(name, device, queue, kind) ADAPTYST_DETAIL_C_SUBMIT(name, device, queue, kind, 0, 0, 0)
#define ADAPTYST_SUBMIT_WORK(name, device, queue, kind, bytes, flops) \
  ADAPTYST_DETAIL_C_SUBMIT(name, device, queue, kind, 1, bytes, flops)

/* Why the times of an operation will never be known: the device did not tell them; it told them in a clock that cannot be
 * converted; the operation will never end. */
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

/* When the device began and finished: CLOCK_MONOTONIC, submitted <= started <= ended. Other times are counted as lost
 * (bad_times). A second call does nothing. */
static inline void adaptyst_complete(adaptyst_operation* operation, uint64_t started_ns, uint64_t ended_ns) {
#ifdef ADAPTYST_DISABLE
  (void)operation, (void)started_ns, (void)ended_ns;
#else
  /* NOLINTNEXTLINE(modernize-use-nullptr): C has none */
  if (ADAPTYST_DETAIL_C_UNLIKELY(operation->begun.path != NULL)) adaptyst_c_complete(operation, started_ns, ended_ns);
#endif
}

/* The operation is counted as lost, with this reason. */
static inline void adaptyst_abandon(adaptyst_operation* operation, enum adaptyst_operation_loss reason) {
#ifdef ADAPTYST_DISABLE
  (void)operation, (void)reason;
#else
  /* NOLINTNEXTLINE(modernize-use-nullptr): C has none */
  if (ADAPTYST_DETAIL_C_UNLIKELY(operation->begun.path != NULL)) adaptyst_c_abandon(operation, (uint32_t)reason);
#endif
}

/* What the run is of: adaptyst_metadata("mesh", "512^3"). Names keep 63 bytes, values 255; a process keeps 64 of them.
 * 0.1 us, whether something listens or not (metric.hpp). */
static inline void adaptyst_metadata(const char* name, const char* value) {
#ifdef ADAPTYST_DISABLE
  (void)name, (void)value;
#else
  adaptyst_c_metadata(name, value);
#endif
}

#endif
