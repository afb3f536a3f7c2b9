// Measuring two things alternately, so that a machine that changes its mind changes it for both.
#ifndef ADAPTYST_BENCH_MEASURE_HPP
#define ADAPTYST_BENCH_MEASURE_HPP

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {

using measurements = std::map<std::string, double>;

inline double now_ns() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// CPU time does not grow while other programs have the core, but what interrupts a thread counts.
inline double cpu_ns(clockid_t clock) {
  timespec used{};
  clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}
inline double thread_cpu_ns() { return cpu_ns(CLOCK_THREAD_CPUTIME_ID); }
// The sum over all threads, also those of the collector.
inline double process_cpu_ns() { return cpu_ns(CLOCK_PROCESS_CPUTIME_ID); }

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

// A process that runs a slice of work on request. `body(serve)` runs in it: prepares the work, and gives it to `serve`.
class worker {
 public:
  template <class Body>
  explicit worker(Body&& body) {
    int requests[2];
    int figures[2];
    if (pipe(requests) != 0 || pipe(figures) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    process_ = fork();
    if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    requests_ = requests[1];
    figures_ = figures[0];
    const int own[] = {requests[0], figures[1]};
    if (process_ == 0) {
      close(requests_);
      try {
        body([&own](auto&& slice) {
          char request;
          while (read(own[0], &request, 1) == 1) {
            const double figure = slice();
            if (write(own[1], &figure, sizeof figure) != sizeof figure) break;
          }
        });
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    for (const int end : own) close(end);
  }
  ~worker() {
    close(requests_);
    close(figures_);
    waitpid(process_, nullptr, 0);
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  double slice() const {
    double figure = 0;
    if (write(requests_, "", 1) != 1 || read(figures_, &figure, sizeof figure) != sizeof figure)
      throw std::runtime_error("a process of the benchmark has ended early");
    return figure;
  }

 private:
  pid_t process_ = -1;
  int requests_ = -1, figures_ = -1;
};

// As alternately(), with slices of some 20 ms of two processes on one core, each of the first between two of the second: the
// machine's speed changes more between two runs than most of what is measured here. `warm_up`: slices of the first alone.
template <class First, class Second>
pair in_slices(unsigned slices, unsigned warm_up, First&& first, Second&& second) {
  cpu_set_t before;
  cpu_set_t present;
  sched_getaffinity(0, sizeof before, &before);
  CPU_ZERO(&present);
  CPU_SET(sched_getcpu(), &present);
  sched_setaffinity(0, sizeof present, &present);
  pair found{};
  {
    const worker second_process(second);
    const worker first_process(first);
    for (unsigned at = 0; at != warm_up; ++at) first_process.slice();
    double earlier = second_process.slice();
    found = alternately(
        slices, [&] { return first_process.slice(); },
        [&] {
          const double previous = std::exchange(earlier, second_process.slice());
          return (previous + earlier) / 2;
        });
  }
  sched_setaffinity(0, sizeof before, &before);
  return found;
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
