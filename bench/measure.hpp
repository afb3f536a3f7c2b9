// Measuring two things alternately, so that a machine that changes its mind changes it for both.
#ifndef ADAPTYST_BENCH_MEASURE_HPP
#define ADAPTYST_BENCH_MEASURE_HPP

#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {

using measurements = std::map<std::string, double>;

// Prints the exception of `part()` as the reason why `figures` are absent.
template <class Part>
void try_measuring(const char* figures, Part&& part) {
  try {
    part();
  } catch (const std::exception& failed) {
    std::printf("not measured: %s: %s\n", figures, failed.what());
  }
}

// A refused collector would measure the program alone. Throws.
template <class Collector>
void require(const Collector& collector) {
  if (const auto* const refused = collector.error(); refused != nullptr) throw std::runtime_error(refused->summary());
}

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

// `turns` times some 10 ns: a chain of operations on `value`. A processor predicts the end of a short loop. In a long loop it
// often fails, with markers more or less often than without.
[[gnu::always_inline]] inline void multiply(std::uint64_t& value, unsigned turns) {
  for (unsigned turn = 0; turn != turns; ++turn) {
#pragma GCC unroll 32
    for (int at = 0; at != 32; ++at) {
      value *= 3;
      // The compiler has to assume that this changes the value, so it cannot replace several multiplications by one.
      __asm__ volatile("" : "+r"(value));
    }
  }
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
  double second_sum;     // of all rounds
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
  return {median(a), median(b), median(ratios), std::accumulate(b.begin(), b.end(), 0.0)};
}

// A value that processes share after a fork.
template <class Value>
class in_shared_memory {
 public:
  in_shared_memory() {
    void* const made = mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    value_ = new (made) Value{};
  }
  ~in_shared_memory() { munmap(value_, sizeof(Value)); }
  in_shared_memory(const in_shared_memory&) = delete;
  in_shared_memory& operator=(const in_shared_memory&) = delete;
  Value& operator*() const { return *value_; }
  Value* operator->() const { return value_; }

 private:
  Value* value_;
};

// A process that runs a slice of work on request. `body(serve)` runs in it: prepares the work, and gives it to `serve`.
class worker {
 public:
  template <class Body>
  explicit worker(Body&& body) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
    process_ = fork();
    if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    socket_ = ends[0];
    if (process_ == 0) {
      close(socket_);
      _exit(run(ends[1], body));
    }
    close(ends[1]);
  }
  ~worker() {
    close(socket_);
    if (process_ > 0) waitpid(process_, nullptr, 0);
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  // Throws, with the reason, if the process has failed or ended.
  double slice() {
    double figure = 0;
    send(socket_, "", 1, MSG_NOSIGNAL);
    if (recv(socket_, &figure, sizeof figure, MSG_WAITALL) != sizeof figure) throw std::runtime_error(wait_for_end());
    if (!std::isnan(figure)) return figure;
    std::string reason(4096, '\0');
    reason.resize(
        static_cast<std::size_t>(std::max<ssize_t>(recv(socket_, reason.data(), reason.size(), MSG_WAITALL), 0)));
    throw std::runtime_error(reason);
  }

 private:
  template <class Body>
  static int run(int socket, Body&& body) {
    const auto answer = [socket](const void* data, std::size_t bytes) {
      return send(socket, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
    };
    std::string reason;
    try {
      body([&](auto&& slice) {
        char request = 0;
        while (recv(socket, &request, 1, 0) == 1) {
          const double figure = slice();
          if (std::isnan(figure)) throw std::runtime_error("no figure");
          if (!answer(&figure, sizeof figure)) return;
        }
      });
      return 0;
    } catch (const std::exception& failed) {
      reason = failed.what();
    }
    constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();
    answer(&no_figure, sizeof no_figure);
    answer(reason.data(), reason.size());
    return 1;
  }
  std::string wait_for_end() {
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFSIGNALED(status) ? "the process was ended by signal " + std::to_string(WTERMSIG(status))
                               : "the process ended early, with status " + std::to_string(WEXITSTATUS(status));
  }

  pid_t process_ = -1;
  int socket_ = -1;
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
    worker second_process(second);
    worker first_process(first);
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
