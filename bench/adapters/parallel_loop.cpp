// The time of one parallel loop: parallel_loop STEPS; without STEPS, how many steps take about 100 us. Compiled by
// bench/run.py with Clang, for LLVM's OpenMP.
#include <omp.h>

#include <cstdio>
#include <cstdlib>

#include "../measure.hpp"

namespace {

// Steps are long, and do not depend on memory.
double work(long steps) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < steps; ++i) {
    double x = static_cast<double>(i);
    for (int turn = 0; turn != 20; ++turn) x = x * 0.999 + 1.0;
    sum += x;
  }
  return sum;
}

// Of the tenth of them that was disturbed least: what a loop costs, whatever else runs on the machine.
double best_ns(long steps, unsigned times) {
  volatile double result = 0;
  std::vector<double> each;
  for (unsigned at = 0; at != times; ++at) each.push_back(bench::step_ns(1, [&] { result = work(steps); }));
  std::sort(each.begin(), each.end());
  each.resize(each.size() / 5);
  return bench::median(each);
}

}  // namespace

int main(int count, char** arguments) {
  best_ns(1000, 200);  // the threads are there
  if (count > 1) {
    std::printf("loop_ns %.6g\n", best_ns(std::atol(arguments[1]), 5000));
  } else {
    const long trial = 10000;
    std::printf("steps %.0f\n", static_cast<double>(trial) * 1e5 / best_ns(trial, 500));
  }
}
