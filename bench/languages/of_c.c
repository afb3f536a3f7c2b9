/* Regions of C; the same function with and without one. */
#include "of_c.h"

#include <adaptyst/adaptyst.h>

#define NOINLINE __attribute__((noinline))

NOINLINE void bench_c_work(void) { __asm__ volatile(""); }

NOINLINE void bench_c_nothing(void) {
  bench_c_work();
  __asm__ volatile("");
}

NOINLINE void bench_c_scope(void) {
  ADAPTYST_REGION("scope of C");
  bench_c_work();
  __asm__ volatile("");
}

NOINLINE void bench_c_pair(void) {
  ADAPTYST_BEGIN("pair of C");
  bench_c_work();
  ADAPTYST_END();
  __asm__ volatile("");
}
