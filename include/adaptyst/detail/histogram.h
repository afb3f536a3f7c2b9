/* Log-linear buckets for durations, shared by the program, the kernel and the collector.
 *
 * Values below 64 have one bucket each. Above, each octave has 13 buckets at multiples of 1/64 of the octave. The
 * harmonic mean of a bucket's edges is within 3 % of every value in it. Twelve is the theoretical minimum (ln 2 /
 * 0.06 = 11.6); 16 equal buckets exceed 3 %.
 *
 * Range: 0 … 2^46 ns (19.5 hours); longer values fall into the last bucket. Plain C, no state, thread-safe. */
#ifndef ADAPTYST_DETAIL_HISTOGRAM_H
#define ADAPTYST_DETAIL_HISTOGRAM_H

#include "../probe_abi.h"

enum {
  ADAPTYST_HISTOGRAM_OCTAVE = 13,
  ADAPTYST_HISTOGRAM_FIRST_OCTAVE = 6, /* below 2^6, each value is a bucket */
  ADAPTYST_HISTOGRAM_LAST_OCTAVE = 45,
  ADAPTYST_HISTOGRAM_BUCKETS =
      64 + (ADAPTYST_HISTOGRAM_LAST_OCTAVE - ADAPTYST_HISTOGRAM_FIRST_OCTAVE + 1) * ADAPTYST_HISTOGRAM_OCTAVE
};

/* Begins of an octave's buckets, in 64ths of the octave. */
static const uint8_t adaptyst_histogram_cuts[ADAPTYST_HISTOGRAM_OCTAVE] = {0,  3,  7,  11, 15, 19, 24,
                                                                           29, 34, 40, 46, 52, 59};

/* Bucket of each 64th within its octave: the inverse of the cuts. */
static const uint8_t adaptyst_histogram_parts[64] = {
    0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,  4,  4,  4,  4,  5,  5,  5,  5,  5,  6,  6,  6,  6,  6,  7,  7,  7,
    7, 7, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12, 12, 12};

/* Position of the highest set bit; v >= 1. The BPF target has no instruction for it. */
static inline unsigned adaptyst_log2(uint64_t v) {
#ifdef __bpf__
  unsigned bit = 0;
  if (v >> 32) bit += 32, v >>= 32;
  if (v >> 16) bit += 16, v >>= 16;
  if (v >> 8) bit += 8, v >>= 8;
  if (v >> 4) bit += 4, v >>= 4;
  if (v >> 2) bit += 2, v >>= 2;
  return bit + (unsigned)(v >> 1);
#else
  return 63U - (unsigned)__builtin_clzll(v);
#endif
}

/* Bucket of a value, 0 … ADAPTYST_HISTOGRAM_BUCKETS − 1. */
__attribute__((always_inline)) static inline unsigned adaptyst_histogram_bucket(uint64_t value) {
  unsigned octave;
  if (value < 64) return (unsigned)value;
  octave = adaptyst_log2(value) - ADAPTYST_HISTOGRAM_FIRST_OCTAVE;
  if (octave > ADAPTYST_HISTOGRAM_LAST_OCTAVE - ADAPTYST_HISTOGRAM_FIRST_OCTAVE) return ADAPTYST_HISTOGRAM_BUCKETS - 1;
  return 64 + octave * ADAPTYST_HISTOGRAM_OCTAVE + adaptyst_histogram_parts[(value >> octave) & 63];
}

/* Smallest value of a bucket; one past the last bucket gives the end of the range. */
static inline uint64_t adaptyst_histogram_lower(unsigned bucket) {
  unsigned octave, part;
  if (bucket < 64) return bucket;
  octave = (bucket - 64) / ADAPTYST_HISTOGRAM_OCTAVE;
  part = (bucket - 64) % ADAPTYST_HISTOGRAM_OCTAVE;
  return (uint64_t)(64 + adaptyst_histogram_cuts[part]) << octave;
}

#endif
