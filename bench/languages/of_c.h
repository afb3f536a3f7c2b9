#ifndef ADAPTYST_BENCH_LANGUAGES_OF_C_H
#define ADAPTYST_BENCH_LANGUAGES_OF_C_H

#ifdef __cplusplus
extern "C" {
#endif

/* The work of each function, with and without a region. */
void bench_c_work(void);

void bench_c_nothing(void);
void bench_c_scope(void);
void bench_c_pair(void);

/* Of of_fortran.f90. */
void bench_fortran_nothing(void);
void bench_fortran_region(void);
void bench_fortran_named(void);

#ifdef __cplusplus
}
#endif

#endif
