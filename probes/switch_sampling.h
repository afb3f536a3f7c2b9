/* Selects the thread switches that are recorded, if an overhead budget does not permit all, and sums up estimates with
 * their variances. Without the kernel, so that tests can run it.
 *
 * The choice must not depend on the length of the wait, which only begins, so sums of weighted waits have no bias. A
 * program waits often and shortly at one place, and rarely and long at another. A random choice among all would miss
 * most long waits, and count the others many times. Therefore the first switch at each place in some milliseconds
 * is recorded and counts once; one of 2^k others is recorded at random, and counts 2^k times. Places share 8 slots, so some
 * share a first switch. Variances do not cover rare long waits at a place with many short ones. */
#ifndef ADAPTYST_PROBES_SWITCH_SAMPLING_H
#define ADAPTYST_PROBES_SWITCH_SAMPLING_H

#include "context_layout.h"

enum { ADAPTYST_SWITCH_MAX_STEP = 8 /* k; sums of squares have room for it */ };

static inline int adaptyst_is_first_switch(struct adaptyst_switch_places* places, uint32_t place, uint32_t now) {
  uint32_t* recorded_at = &places->recorded_at[place % ADAPTYST_SWITCH_PLACES];
  if (*recorded_at == now) return 0;
  *recorded_at = now;
  return 1;
}

/* The number of switches for which a switch counts that is not the first; 0: it is not recorded. */
static inline uint32_t adaptyst_switch_weight(uint32_t random, uint32_t step) {
  const uint32_t max_step = ADAPTYST_SWITCH_MAX_STEP;
  uint32_t weight = 1U << (step < max_step ? step : max_step);
  return random & (weight - 1) ? 0 : weight;
}

static inline void adaptyst_add_square(struct adaptyst_square_sum* sum, uint64_t ns, uint64_t times) {
  uint64_t units = (ns + (1ULL << ADAPTYST_SQUARE_UNIT_LOG2) / 2) >> ADAPTYST_SQUARE_UNIT_LOG2;
  uint64_t square, low;
  if (units >> 32) units = 0xffffffff;
  square = units * units;
  low = sum->low + (square & 0xffffffff) * times;
  sum->low = low & 0xffffffff;
  sum->high += (square >> 32) * times + (low >> 32);
}

/* A period off the core that counts `weight` times. */
struct adaptyst_switch {
  uint64_t weight, blocked_ns, runnable_ns;
  uint32_t reason; /* enum adaptyst_blocked, if it is voluntary */
  uint32_t is_voluntary, has_moved;
};

static inline void adaptyst_book_switch(struct adaptyst_context_row* row, const struct adaptyst_switch* of) {
  uint64_t variance = of->weight * (of->weight - 1);
  row->runnable_ns += of->weight * of->runnable_ns;
  if (of->is_voluntary) {
    row->voluntary += of->weight;
    row->blocked_ns[of->reason % ADAPTYST_BLOCKED_REASONS] += of->weight * of->blocked_ns;
  } else {
    row->involuntary += of->weight;
  }
  if (of->has_moved) row->migrations += of->weight;
  if (!variance) return;
  if (of->is_voluntary) {
    row->voluntary_variance += variance;
    adaptyst_add_square(&row->blocked_variance, of->blocked_ns, variance);
  } else {
    row->involuntary_variance += variance;
  }
  if (of->has_moved) row->migrations_variance += variance;
  adaptyst_add_square(&row->runnable_variance, of->runnable_ns, variance);
}

#endif
