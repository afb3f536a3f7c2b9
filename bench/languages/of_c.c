/* Regions of C; the same function with and without one. */
#include "of_c.h"

#include <adaptyst/adaptyst.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE void work(void) { __asm__ volatile(""); }

NOINLINE void bench_c_nothing(void) {
  work();
  __asm__ volatile("");
}

NOINLINE void bench_c_scope(void) {
  ADAPTYST_REGION("scope of C");
  work();
  __asm__ volatile("");
}

NOINLINE void bench_c_pair(void) {
  ADAPTYST_BEGIN("pair of C");
  work();
  ADAPTYST_END();
  __asm__ volatile("");
}
