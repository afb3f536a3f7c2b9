// Heat that spreads along a rod, on a device if OpenMP has one. Nothing in it is of adaptyst:
//
//   clang++ -O2 -fopenmp -fopenmp-targets=… main.cpp -o openmp_heat
//   adaptyst run -- ./openmp_heat
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

int main() {
  const int cells = 200000;
  const int steps = 100;
  std::vector<double> now(cells, 0.0);
  std::vector<double> next(cells, 0.0);
  now[cells / 2] = next[cells / 2] = 1.0;
  double* from = now.data();
  double* result = next.data();

#pragma omp target data map(tofrom : from[:cells], result[:cells])
  for (int step = 0; step != steps; ++step) {
#pragma omp target teams distribute parallel for
    for (int i = 1; i < cells - 1; ++i) result[i] = from[i] + 0.25 * (from[i - 1] - 2 * from[i] + from[i + 1]);
    std::swap(from, result);
  }

  double heat = 0;
#pragma omp parallel for reduction(+ : heat)
  for (int i = 0; i < cells; ++i) heat += from[i];
  std::printf("heat %.12f, warmest %.6f\n", heat, from[cells / 2]);
  return std::abs(heat - 1) < 1e-9 ? 0 : 1;  // none is lost
}
