// Shares rows out among OpenMP threads; without OpenMP, the caller does them all.
#ifndef SHALLOW_WATER_PARALLEL_HPP
#define SHALLOW_WATER_PARALLEL_HPP

#ifdef _OPENMP
#include <omp.h>
#endif

#include "grid.hpp"

namespace shallow_water {

inline int available_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

// The part-th of `parts` even parts of the rows.
inline row_range take_part(row_range rows, int part, int parts) {
  const auto cut = [&](int at) {
    return rows.first + static_cast<int>(static_cast<long long>(rows.size()) * at / parts);
  };
  return {cut(part), cut(part + 1)};
}

// Calls work(part, parts) on each thread at once. `work` must not throw.
template <class Work>
void in_parallel([[maybe_unused]] int threads, const Work& work) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  work(omp_get_thread_num(), omp_get_num_threads());
#else
  work(0, 1);
#endif
}

}  // namespace shallow_water

#endif
