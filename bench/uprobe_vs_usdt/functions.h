/* The functions that are observed. All do the same; what they begin with decides what a probe there costs. */
#ifndef ADAPTYST_BENCH_UPROBE_VS_USDT_FUNCTIONS_H
#define ADAPTYST_BENCH_UPROBE_VS_USDT_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void study_kernel(size_t steps);

/* Each calls study_kernel(steps). The other arguments are those of the probe region_end, so that the same program can
 * add what they are passed at the entry of any of these. */
typedef void study_function(size_t steps, uint64_t path_id, uint64_t begin_ns, uint64_t end_ns, uint64_t self_ns,
                            const void* path);
study_function study_plain; /* never probed */
study_function study_nop1;  /* 1-byte nop: a classic USDT site */
study_function study_nop5;  /* 5-byte nop: becomes a call */
study_function study_push;  /* endbr64 and push, as most functions of distributions: the push is emulated */
study_function study_xor;   /* xor: stepped over with a second trap */

/* Site number n is the function study_sites + n * study_site_bytes: a 1-byte nop and a return. */
enum { study_site_count = 1000, study_site_bytes = 16 };
study_function study_sites;

#ifdef __cplusplus
}
#endif

#endif
