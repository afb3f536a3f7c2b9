/* Expansion of the macros of adaptyst.h: a static site, a test of the semaphores, and calls of
 * lib/markers/c_markers.cpp. That file also compares the layouts here with those of the C++ headers. */
#ifndef ADAPTYST_DETAIL_C_MARKERS_H
#define ADAPTYST_DETAIL_C_MARKERS_H

#include <stddef.h>
#include <stdint.h>

#include "../probe_abi.h"

#if !defined(__linux__) || !defined(__LP64__)
#error "adaptyst: markers need 64-bit Linux; define ADAPTYST_DISABLE and guard the include elsewhere"
#endif
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "adaptyst: adaptyst.h is C99: compile with -std=c99 or a later standard"
#endif

/* From C++17 on, a unit may contain both kinds of markers: equal names are the same. */
#if defined(__cplusplus) && __cplusplus >= 201703L
#define ADAPTYST_DETAIL_CXX_HEADERS
#include "../metric.hpp"
#include "../offload.hpp"
#endif

#ifdef __cplusplus
#define ADAPTYST_DETAIL_C_ZERO(type) (type())
/* Like `site` in site.hpp: objects of another type would be unique symbols in inline functions. */
#define ADAPTYST_DETAIL_C_HIDDEN_TYPE __attribute__((visibility("hidden")))
extern "C" {
#else
#define ADAPTYST_DETAIL_C_ZERO(type) ((type){0})
#define ADAPTYST_DETAIL_C_HIDDEN_TYPE
#endif

struct ADAPTYST_DETAIL_C_HIDDEN_TYPE adaptyst_c_site {
  const char* name; /* NULL: not a literal; each event brings a name */
  size_t name_bytes;
  const char* file;
  const char* function;
  uint32_t line;
  uint32_t kind;
  const struct adaptyst_site* record;
};

typedef struct adaptyst_c_handle {
  const struct adaptyst_path* path; /* NULL: no open region */
  uint64_t begin;
  uint64_t epoch;
} adaptyst_c_handle;

typedef struct adaptyst_operation {
  adaptyst_c_handle begun;
  double bytes, flops;
  uint64_t submitted_ns;
  uint64_t queue;
  uint64_t thread;
} adaptyst_operation;

#ifdef ADAPTYST_DETAIL_CXX_HEADERS
typedef adaptyst::region_handle adaptyst_handle;
typedef adaptyst::device adaptyst_device;
#define ADAPTYST_DETAIL_C_DEVICE(kind, index, name) \
  { static_cast<::adaptyst::device_kind>(kind), index, name }
#else
typedef adaptyst_c_handle adaptyst_handle;
typedef struct adaptyst_device {
  uint32_t kind;
  uint32_t index;
  char name[40];
} adaptyst_device;
#define ADAPTYST_DETAIL_C_DEVICE(kind, index, name) \
  { kind, index, name }
#endif

#define ADAPTYST_DETAIL_C_UNLIKELY(condition) __builtin_expect((condition), 0)

#ifdef ADAPTYST_DISABLE

static inline int adaptyst_c_check(const char* name, const adaptyst_device* device) {
  return name != NULL && device != NULL;
}

/* A branch that is never taken: names that only a disabled marker uses must not be reported as unused. */
#define ADAPTYST_DETAIL_C_CHECK(name, device, value) \
  ((void)(0 ? ((void)adaptyst_c_check(name, device), (void)(value), 0) : 0))
#define ADAPTYST_DETAIL_C_SCOPE(kind, number, name) ADAPTYST_DETAIL_C_CHECK("" name "", NULL, 0)
#define ADAPTYST_DETAIL_C_SCOPE_NAMED(number, name) ADAPTYST_DETAIL_C_CHECK(name, NULL, 0)
#define ADAPTYST_DETAIL_C_FUNCTION(number) ((void)0)
#define ADAPTYST_DETAIL_C_PHASES(number, name)           \
  __attribute__((unused)) const int adaptyst_phases = 0; \
  ADAPTYST_DETAIL_C_CHECK("" name "", NULL, 0)
#define ADAPTYST_DETAIL_C_NEXT(name) ((void)adaptyst_phases, ADAPTYST_DETAIL_C_CHECK("" name "", NULL, 0))
#define ADAPTYST_DETAIL_C_OFFLOAD(number, name, device) ADAPTYST_DETAIL_C_CHECK("" name "", &(device), 0)
#define ADAPTYST_DETAIL_C_BEGIN(name) ADAPTYST_DETAIL_C_CHECK("" name "", NULL, 0)
#define ADAPTYST_DETAIL_C_BEGIN_NAMED(name) ADAPTYST_DETAIL_C_CHECK(name, NULL, 0)
#define ADAPTYST_DETAIL_C_END() ((void)0)
#define ADAPTYST_DETAIL_C_HANDLE(name) \
  (ADAPTYST_DETAIL_C_CHECK("" name "", NULL, 0), ADAPTYST_DETAIL_C_ZERO(adaptyst_c_handle))
#define ADAPTYST_DETAIL_C_INSTANT(kind, name, value) ADAPTYST_DETAIL_C_CHECK("" name "", NULL, value)
#define ADAPTYST_DETAIL_C_SUBMIT(name, device, queue, kind, has_work, bytes, flops)                                \
  (ADAPTYST_DETAIL_C_CHECK(name, &(device), (double)(queue) + (double)(kind) + (double)(bytes) + (double)(flops)), \
   ADAPTYST_DETAIL_C_ZERO(adaptyst_operation))

#else

/* Hidden, because each ELF object has its own; cold, to keep calls out of the caller's hot code. */
#define ADAPTYST_DETAIL_C_COLD __attribute__((cold, noinline, nothrow, visibility("hidden")))

#ifndef ADAPTYST_DETAIL_CXX_HEADERS
extern struct adaptyst_object adaptyst_object_v5 __attribute__((visibility("hidden")));
#endif

/* Token of a scope: 0 while idle. */
ADAPTYST_DETAIL_C_COLD uint64_t adaptyst_c_begin_scope(struct adaptyst_c_site* site);
ADAPTYST_DETAIL_C_COLD uint64_t adaptyst_c_begin_scope_named(struct adaptyst_c_site* site, const char* name);
ADAPTYST_DETAIL_C_COLD uint64_t adaptyst_c_begin_wait(struct adaptyst_c_site* site, const adaptyst_device* device);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_leave_scope(uint64_t token);
/* Ends the scope of `token`, and begins another at the same instant. */
ADAPTYST_DETAIL_C_COLD uint64_t adaptyst_c_next_phase(struct adaptyst_c_site* site, uint64_t token);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_begin(struct adaptyst_c_site* site);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_begin_named(struct adaptyst_c_site* site, const char* name);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_end(void);
ADAPTYST_DETAIL_C_COLD adaptyst_c_handle adaptyst_c_begin_handle(struct adaptyst_c_site* site);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_end_handle(adaptyst_c_handle* handle);
/* True if this run excludes the marker. Called before the value is evaluated. */
ADAPTYST_DETAIL_C_COLD int adaptyst_c_is_left_out(struct adaptyst_c_site* site);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_instant(struct adaptyst_c_site* site, double value);
/* `site`: the source place only; `kind`: enum adaptyst_operation_kind. */
ADAPTYST_DETAIL_C_COLD adaptyst_operation adaptyst_c_submit(const struct adaptyst_c_site* site, uint32_t kind,
                                                            const char* name, const adaptyst_device* device,
                                                            uint64_t queue, int has_work, double bytes, double flops);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_complete(adaptyst_operation* operation, uint64_t started_ns, uint64_t ended_ns);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_abandon(adaptyst_operation* operation, uint32_t reason);
ADAPTYST_DETAIL_C_COLD void adaptyst_c_metadata(const char* name, const char* value);

/* Like is_enabled() in site.hpp: re-read each time. */
__attribute__((always_inline)) static inline int adaptyst_c_is_enabled(void) {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
  int is_enabled;
  __asm__ volatile("cmpq $0, %1" : "=@ccne"(is_enabled) : "m"(adaptyst_object_v5));
  return is_enabled;
#else
  typedef const volatile uint64_t __attribute__((may_alias)) all_four;
  return *(all_four*)&adaptyst_object_v5 != 0;
#endif
}

/* The compiler calls this at the end of a scope. */
__attribute__((always_inline)) static inline void adaptyst_c_scope_ends(const uint64_t* token) {
  if (ADAPTYST_DETAIL_C_UNLIKELY(*token != 0)) adaptyst_c_leave_scope(*token);
}

#define ADAPTYST_DETAIL_C_ENABLED() ADAPTYST_DETAIL_C_UNLIKELY(adaptyst_c_is_enabled())
#define ADAPTYST_DETAIL_C_PASTE_(a, b) a##b
#define ADAPTYST_DETAIL_C_PASTE(a, b) ADAPTYST_DETAIL_C_PASTE_(a, b)

#define ADAPTYST_DETAIL_C_SITE(variable, kind, name, name_bytes) \
  static struct adaptyst_c_site variable = {name, name_bytes, __FILE__, __func__, (uint32_t)__LINE__, kind, NULL}
/* Two literals become one; anything else is a compile error. */
#define ADAPTYST_DETAIL_C_LITERAL_SITE(variable, kind, name) \
  ADAPTYST_DETAIL_C_SITE(variable, kind, "" name "", sizeof("" name "") - 1)

#define ADAPTYST_DETAIL_C_SCOPE_OBJECT(number, begin)                                             \
  __attribute__((cleanup(adaptyst_c_scope_ends), unused)) const uint64_t ADAPTYST_DETAIL_C_PASTE( \
      adaptyst_scope_, number) = ADAPTYST_DETAIL_C_ENABLED() ? begin : 0
#define ADAPTYST_DETAIL_C_SITE_OF(number) ADAPTYST_DETAIL_C_PASTE(adaptyst_site_, number)

#define ADAPTYST_DETAIL_C_SCOPE(kind, number, name) ADAPTYST_DETAIL_C_SCOPE_(kind, number, name)
#define ADAPTYST_DETAIL_C_SCOPE_(kind, number, name)                                                           \
  ADAPTYST_DETAIL_C_LITERAL_SITE(ADAPTYST_DETAIL_C_SITE_OF(number), kind, name);                               \
  ADAPTYST_DETAIL_C_SCOPE_OBJECT(number, (kind) == ADAPTYST_SITE_WAIT                                          \
                                             ? adaptyst_c_begin_wait(&ADAPTYST_DETAIL_C_SITE_OF(number), NULL) \
                                             : adaptyst_c_begin_scope(&ADAPTYST_DETAIL_C_SITE_OF(number)))

#define ADAPTYST_DETAIL_C_SCOPE_NAMED(number, name) ADAPTYST_DETAIL_C_SCOPE_NAMED_(number, name)
#define ADAPTYST_DETAIL_C_SCOPE_NAMED_(number, name)                                        \
  ADAPTYST_DETAIL_C_SITE(ADAPTYST_DETAIL_C_SITE_OF(number), ADAPTYST_SITE_REGION, NULL, 0); \
  ADAPTYST_DETAIL_C_SCOPE_OBJECT(number, adaptyst_c_begin_scope_named(&ADAPTYST_DETAIL_C_SITE_OF(number), name))

#define ADAPTYST_DETAIL_C_FUNCTION(number) ADAPTYST_DETAIL_C_FUNCTION_(number)
#define ADAPTYST_DETAIL_C_FUNCTION_(number)                                                                        \
  ADAPTYST_DETAIL_C_SITE(ADAPTYST_DETAIL_C_SITE_OF(number), ADAPTYST_SITE_REGION, __func__, sizeof(__func__) - 1); \
  ADAPTYST_DETAIL_C_SCOPE_OBJECT(number, adaptyst_c_begin_scope(&ADAPTYST_DETAIL_C_SITE_OF(number)))

#define ADAPTYST_DETAIL_C_PHASES(number, name) ADAPTYST_DETAIL_C_PHASES_(number, name)
#define ADAPTYST_DETAIL_C_PHASES_(number, name)                                                  \
  ADAPTYST_DETAIL_C_LITERAL_SITE(ADAPTYST_DETAIL_C_SITE_OF(number), ADAPTYST_SITE_REGION, name); \
  __attribute__((cleanup(adaptyst_c_scope_ends), unused)) uint64_t adaptyst_phases =             \
      ADAPTYST_DETAIL_C_ENABLED() ? adaptyst_c_begin_scope(&ADAPTYST_DETAIL_C_SITE_OF(number)) : 0
#define ADAPTYST_DETAIL_C_NEXT(name)                                                     \
  do {                                                                                   \
    ADAPTYST_DETAIL_C_LITERAL_SITE(adaptyst_site_of_phase, ADAPTYST_SITE_REGION, name);  \
    if (ADAPTYST_DETAIL_C_ENABLED()) {                                                   \
      adaptyst_phases = adaptyst_c_next_phase(&adaptyst_site_of_phase, adaptyst_phases); \
    } else {                                                                             \
      adaptyst_c_scope_ends(&adaptyst_phases);                                           \
      adaptyst_phases = 0;                                                               \
    }                                                                                    \
  } while (0)

#define ADAPTYST_DETAIL_C_OFFLOAD(number, name, device) ADAPTYST_DETAIL_C_OFFLOAD_(number, name, device)
#define ADAPTYST_DETAIL_C_OFFLOAD_(number, name, device)                                          \
  ADAPTYST_DETAIL_C_LITERAL_SITE(ADAPTYST_DETAIL_C_SITE_OF(number), ADAPTYST_SITE_OFFLOAD, name); \
  ADAPTYST_DETAIL_C_SCOPE_OBJECT(number, adaptyst_c_begin_wait(&ADAPTYST_DETAIL_C_SITE_OF(number), &(device)))

#define ADAPTYST_DETAIL_C_BEGIN(name)                                                    \
  do {                                                                                   \
    ADAPTYST_DETAIL_C_LITERAL_SITE(adaptyst_site_of_pair, ADAPTYST_SITE_CALLBACK, name); \
    if (ADAPTYST_DETAIL_C_ENABLED()) adaptyst_c_begin(&adaptyst_site_of_pair);           \
  } while (0)
#define ADAPTYST_DETAIL_C_BEGIN_NAMED(name)                                                \
  do {                                                                                     \
    ADAPTYST_DETAIL_C_SITE(adaptyst_site_of_pair, ADAPTYST_SITE_CALLBACK, NULL, 0);        \
    if (ADAPTYST_DETAIL_C_ENABLED()) adaptyst_c_begin_named(&adaptyst_site_of_pair, name); \
  } while (0)
#define ADAPTYST_DETAIL_C_END()                        \
  do {                                                 \
    if (ADAPTYST_DETAIL_C_ENABLED()) adaptyst_c_end(); \
  } while (0)

#define ADAPTYST_DETAIL_C_HANDLE(name)                                                   \
  __extension__({                                                                        \
    ADAPTYST_DETAIL_C_LITERAL_SITE(adaptyst_site_of_handle, ADAPTYST_SITE_HANDLE, name); \
    ADAPTYST_DETAIL_C_ENABLED() ? adaptyst_c_begin_handle(&adaptyst_site_of_handle)      \
                                : ADAPTYST_DETAIL_C_ZERO(adaptyst_c_handle);             \
  })

#define ADAPTYST_DETAIL_C_INSTANT(kind, name, value)                                                \
  do {                                                                                              \
    ADAPTYST_DETAIL_C_LITERAL_SITE(adaptyst_site_of_instant, kind, name);                           \
    if (ADAPTYST_DETAIL_C_ENABLED() &&                                                              \
        ((kind) != ADAPTYST_SITE_METRIC || adaptyst_c_is_left_out(&adaptyst_site_of_instant) == 0)) \
      adaptyst_c_instant(&adaptyst_site_of_instant, value);                                         \
  } while (0)

#define ADAPTYST_DETAIL_C_SUBMIT(name, device, queue, kind, has_work, bytes, flops)                          \
  __extension__({                                                                                            \
    ADAPTYST_DETAIL_C_SITE(adaptyst_site_of_operation, ADAPTYST_SITE_KERNEL, NULL, 0);                       \
    adaptyst_operation adaptyst_submitted = ADAPTYST_DETAIL_C_ZERO(adaptyst_operation);                      \
    if (ADAPTYST_DETAIL_C_ENABLED())                                                                         \
      adaptyst_submitted = adaptyst_c_submit(&adaptyst_site_of_operation, (uint32_t)(kind), name, &(device), \
                                             (uint64_t)(queue), has_work, (double)(bytes), (double)(flops)); \
    adaptyst_submitted;                                                                                      \
  })

#endif

#ifdef __cplusplus
}
#endif

#endif
