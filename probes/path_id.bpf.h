/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 *
 * Ids of call paths as made by the recorder in the program, and of paths among functions without markers.
 */
#ifndef ADAPTYST_PROBES_PATH_ID_BPF_H
#define ADAPTYST_PROBES_PATH_ID_BPF_H

#include <adaptyst/probe_abi.h>

static __always_inline uint64_t mix(uint64_t value) {
  value *= 0x9E3779B97F4A7C15U;
  return value ^ (value >> 32);
}

/* The id of a marker's path inside open functions without markers: `function` is the path of the innermost of these,
 * 0 if there is none. */
static __always_inline uint64_t path_among(uint64_t function, uint64_t path) {
  return function ? mix(mix(function) ^ path) : path;
}

#endif
