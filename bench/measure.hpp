// Measuring two things alternately, so that a machine that changes its mind changes it for both.
#ifndef ADAPTYST_BENCH_MEASURE_HPP
#define ADAPTYST_BENCH_MEASURE_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

using measurements = std::map<std::string, double>;

inline double now_ns() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The time of one call of `step`, over `times` calls.
template <class Step>
double step_ns(std::uint64_t times, Step&& step) {
  const double begin = now_ns();
  for (std::uint64_t at = 0; at != times; ++at) step();
  return (now_ns() - begin) / static_cast<double>(times);
}

struct pair {
  double first, second;  // medians
  double ratio;          // median of the rounds' ratios first / second
};

// `first()` and `second()` each return a figure; they take turns.
template <class First, class Second>
pair alternately(unsigned rounds, First&& first, Second&& second) {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> ratios;
  for (unsigned round = 0; round != rounds; ++round) {
    a.push_back(first());
    b.push_back(second());
    ratios.push_back(a.back() / b.back());
  }
  return {median(a), median(b), median(ratios)};
}

// Each adds its keys. `quick` in the callgrind run of idle: that many steps, with or without a marker.
void idle(measurements& results);
void inline_engine(measurements& results);
void devices(measurements& results);
void ebpf_engine(measurements& results);
void kernel_memory(measurements& results);
void context(measurements& results);
void samples(measurements& results);
double marked_work_ns();  // CPU time of steps with markers, for observers from outside
void attach(measurements& results);
void perturbation(measurements& results);
void budget(measurements& results);
void nested_budget(measurements& results);
void fine_grained(measurements& results);
int only_idle_steps(bool with_marker, std::uint64_t times);
double one_inline_region_ns();
double one_trace_event_ns();
double one_ebpf_region_ns();
std::size_t touch_many_sites();

}  // namespace bench

#endif
