// Bandwidth is that of McCalpin's STREAM triad. Together, its arrays are four times as large as the last-level caches,
// so that no cache still has a line when it is used again. The arrays are smaller if touching them would take too long,
// as with the caches that some virtual machines report. Each thread first writes its part of the arrays, so that a
// machine with several memories places it near that thread.
#include "ceilings.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../discover/machine.hpp"
#include "../support/error.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point begin) { return std::chrono::duration<double>(steady::now() - begin).count(); }

class barrier {
 public:
  explicit barrier(unsigned threads) { pthread_barrier_init(&barrier_, nullptr, threads); }
  ~barrier() { pthread_barrier_destroy(&barrier_); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  void wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_{};
};

void run_on(unsigned cpu) {
  cpu_set_t* const set = CPU_ALLOC(cpu + 1);
  if (set == nullptr) return;
  CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), set);
  CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), set);
  pthread_setaffinity_np(pthread_self(), CPU_ALLOC_SIZE(cpu + 1), set);  // if it fails, the kernel chooses
  CPU_FREE(set);
}

struct pace : ceiling_settings {
  steady::time_point begin = steady::now();
};

struct work {
  std::function<void(unsigned thread)> prepare, repeat;
};

// Duration of each repetition in seconds, from the common start of all threads to the end of the last one. The kernel
// places a single thread; each of several threads has a CPU of its own.
std::vector<double> measure(const std::vector<unsigned>& cpus, const pace& how, const work& what) {
  const auto threads = static_cast<unsigned>(cpus.size());
  std::vector<double> seconds;
  std::atomic<bool> goes_on{true}, may_begin{false}, is_off{false};
  barrier together(threads);
  const auto run = [&](unsigned thread) {
    while (!may_begin.load()) std::this_thread::yield();
    if (is_off.load()) return;
    if (threads != 1) run_on(cpus[thread]);
    if (what.prepare) what.prepare(thread);
    const steady::time_point first = steady::now();
    while (true) {
      together.wait();
      if (!goes_on.load()) return;
      const steady::time_point begin = steady::now();
      what.repeat(thread);
      together.wait();
      if (thread != 0) continue;
      seconds.push_back(seconds_since(begin));
      const bool is_enough = seconds.size() >= how.max_repetitions ||
                             (seconds.size() >= how.min_repetitions && seconds_since(first) > how.max_seconds) ||
                             (seconds.size() >= 2 && seconds_since(how.begin) > how.max_seconds_together);
      if (is_enough) goes_on = false;
    }
  };
  std::vector<std::thread> all;
  std::error_code failed;
  try {
    for (unsigned thread = 0; thread != threads; ++thread) all.emplace_back(run, thread);
  } catch (const std::system_error& wrong) {
    failed = wrong.code();
    is_off = true;
  }
  may_begin = true;
  for (std::thread& worker : all) worker.join();
  if (failed)
    throw error(fmt::format("cannot start {} threads to measure with", threads), failed.value(),
                "allow more processes (ulimit -u), or fewer CPUs (taskset)");
  return seconds;
}

repeated_rate make_rate(const std::vector<double>& seconds, double amount) {
  std::vector<double> rates;
  rates.reserve(seconds.size());
  for (const double second : seconds) rates.push_back(amount / second * 1e-9);
  return summarise(std::move(rates));
}

// Three arrays, in large pages if the kernel has them: a program's loops can have them, too.
class arrays {
 public:
  explicit arrays(std::size_t numbers) : numbers_(numbers), bytes_(3 * numbers * sizeof(double)) {
    void* const made = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
      throw error(fmt::format("no memory for arrays of {} to measure bandwidth with",
                              quantity(static_cast<double>(bytes_), "B")),
                  errno, "allow more memory (ulimit -v)");
    madvise(made, bytes_, MADV_HUGEPAGE);
    numbers_at_ = static_cast<double*>(made);
  }
  ~arrays() { munmap(numbers_at_, bytes_); }
  arrays(const arrays&) = delete;
  arrays& operator=(const arrays&) = delete;
  double* operator[](std::size_t which) const { return numbers_at_ + which * numbers_; }

 private:
  std::size_t numbers_, bytes_;
  double* numbers_at_ = nullptr;
};

// As in STREAM: two arrays are read and one is written. Most processors also read the lines that they write; these
// bytes are not counted.
constexpr double bytes_per_element = 24;

std::size_t count_numbers(const std::vector<unsigned>& cpus, const pace& how) {
  constexpr std::uint64_t mib = 1U << 20U;
  const std::uint64_t caches = last_level_cache_bytes(cpus).value_or(64 * mib);
  const std::uint64_t most = std::max(1024 * mib, cpus.size() * 64 * mib);
  std::uint64_t bytes = std::min(std::max(4 * caches / 3, 64 * mib), most / 3);
  if (const auto available = available_memory_bytes()) bytes = std::min(bytes, *available / 4 / 3);
  if (how.max_array_bytes != 0) bytes = std::min(bytes, how.max_array_bytes);
  constexpr std::uint64_t page = 4096;
  return static_cast<std::size_t>(std::max(bytes / page, std::uint64_t{1}) * page / sizeof(double));
}

void measure_triad(const std::vector<unsigned>& cpus, const pace& how, const peak_kernels& kernels, ceiling_rates& to) {
  const std::size_t numbers = count_numbers(cpus, how);
  const arrays all(numbers);
  const auto part = [&](unsigned thread) {
    const std::size_t begin = numbers * thread / cpus.size();
    return std::pair{begin, numbers * (thread + 1) / cpus.size() - begin};
  };
  work what;
  what.prepare = [&](unsigned thread) {
    const auto [begin, count] = part(thread);
    for (std::size_t which = 0; which != 3; ++which) std::fill_n(all[which] + begin, count, 0.5);
  };
  what.repeat = [&](unsigned thread) {
    const auto [begin, count] = part(thread);
    kernels.triad(all[0] + begin, all[1] + begin, all[2] + begin, 3.0, count);
  };
  to.array_bytes = numbers * sizeof(double);
  to.gbytes = make_rate(measure(cpus, how, what), bytes_per_element * static_cast<double>(numbers));
}

template <class Real>
using kernel = double (*)(const Real*, std::uint64_t);

template <class Real>
repeated_rate measure_kernel(const std::vector<unsigned>& cpus, const pace& how, kernel<Real> run,
                             std::uint64_t flops_per_step) {
  std::array<Real, 64> seeds{};
  for (std::size_t at = 0; at != seeds.size(); ++at) seeds[at] = static_cast<Real>(at) / Real{128};
  static std::atomic<double> kept;  // prevents the removal of the work
  std::uint64_t steps = 1024;
  for (double seconds = 0; seconds < how.seconds_of_kernel / 4; steps *= 2) {
    const steady::time_point begin = steady::now();
    kept = run(seeds.data(), steps);
    seconds = seconds_since(begin);
  }
  work what;
  what.repeat = [&](unsigned) { kept = run(seeds.data(), steps); };
  const double flops = static_cast<double>(flops_per_step) * static_cast<double>(steps);
  return make_rate(measure(cpus, how, what), flops * static_cast<double>(cpus.size()));
}

void measure_flops(const std::vector<unsigned>& cpus, const pace& how, const peak_kernels& kernels, ceiling_rates& to) {
  to.double_gflops = measure_kernel(cpus, how, kernels.multiply_add_double, kernels.double_flops_per_step);
  to.single_gflops = measure_kernel(cpus, how, kernels.multiply_add_single, kernels.single_flops_per_step);
}

// The widest instructions are not always the fastest: some processors lower their clock for them.
const peak_kernels& choose_kernels(const std::vector<unsigned>& first_cpu, const pace& how) {
  pace brief = how;
  brief.max_repetitions = brief.min_repetitions = 2;
  const peak_kernel_list list = list_peak_kernels();
  const peak_kernels* best = list.first;
  double most = 0;
  for (std::size_t at = 0; at != list.count; ++at) {
    const peak_kernels& tried = list.first[at];
    const double rate = measure_kernel(first_cpu, brief, tried.multiply_add_double, tried.double_flops_per_step).best;
    if (rate > most) best = &tried;
    most = std::max(most, rate);
  }
  return *best;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

measured_ceilings measure_ceilings(const ceiling_settings& settings) {
  const pace how{settings};
  const std::vector<unsigned> cpus = list_usable_cpus(), first_cpu = {cpus.front()};
  measured_ceilings made;
  made.host = host_name();
  made.cpu = cpu_model();
  made.measured = utc(std::time(nullptr));
  made.cpus = static_cast<std::uint32_t>(cpus.size());
  made.cache_bytes = last_level_cache_bytes(cpus).value_or(0);
  const peak_kernels& kernels = choose_kernels(first_cpu, how);
  made.instructions = kernels.instructions;
  measure_flops(first_cpu, how, kernels, made.one_thread);
  measure_flops(cpus, how, kernels, made.all);
  measure_triad(first_cpu, how, kernels, made.one_thread);
  measure_triad(cpus, how, kernels, made.all);
  made.seconds = seconds_since(how.begin);
  return made;
}

}  // namespace adaptyst::lib
