// What the kernel's context costs: of a region, which should not notice, and of a switch between threads.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "measure.hpp"

namespace bench {

namespace {

constexpr std::uint64_t regions = 5'000'000;
constexpr std::uint64_t exchanges = 50'000;
constexpr unsigned rounds = 9;

[[gnu::noinline]] void region() {
  ADAPTYST_REGION("context");
  __asm__ volatile("");
}

double region_ns(const char* context) {
  const adaptyst::collector collector(std::string("engine=inline,overhead=none,report=none,") + context);
  require(collector);
  step_ns(regions / 10, region);
  return step_ns(regions, region);
}

bool pass(int from, int write_end) {
  char byte = 0;
  return read(from, &byte, 1) == 1 && write(write_end, &byte, 1) == 1;
}

// Two threads on one core hand a byte to and fro, each in a region: two switches an exchange. `options`: empty for no
// collector. `warm_up`: exchanges before the measurement.
double switch_ns(const std::string& options, std::uint64_t warm_up = exchanges / 10) {
  std::optional<adaptyst::collector> collector;
  if (!options.empty()) require(collector.emplace("engine=inline,report=none," + options));
  int there[2];
  int back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 0;
  double each = 0;
  const auto on_one_core = [] {
    cpu_set_t single_cpu;
    CPU_ZERO(&single_cpu);
    CPU_SET(1 % std::thread::hardware_concurrency(), &single_cpu);
    sched_setaffinity(0, sizeof single_cpu, &single_cpu);
  };
  std::thread other([&] {
    on_one_core();
    ADAPTYST_REGION("echo");
    while (pass(there[0], back[1])) {}
  });
  std::thread first([&] {
    on_one_core();
    ADAPTYST_REGION("call");
    char byte = 0;
    if (write(there[1], &byte, 1) != 1) return;
    step_ns(warm_up, [&] { pass(back[0], there[1]); });
    each = step_ns(exchanges, [&] { pass(back[0], there[1]); }) / 2;
    close(there[1]);
  });
  first.join();
  other.join();
  for (const int end : {there[0], back[0], back[1]}) close(end);
  return each;
}

// Fresh pages that are touched and computed on, some 300,000 a second; in steps with a region.
class fresh_pages {
 public:
  fresh_pages()
      : mapped_(mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    madvise(mapped_, pages * page_bytes, MADV_NOHUGEPAGE);
  }
  ~fresh_pages() { munmap(mapped_, pages * page_bytes); }
  fresh_pages(const fresh_pages&) = delete;
  fresh_pages& operator=(const fresh_pages&) = delete;

  // CPU time for a page.
  double touch_ns(std::size_t steps) const {
    const double begin = thread_cpu_ns();
    for (std::size_t step = 0; step != steps; ++step) {
      ADAPTYST_REGION("touches");
      for (std::size_t page = 0; page != pages; ++page) {
        volatile std::uint64_t& first = static_cast<std::uint64_t*>(mapped_)[page * page_bytes / sizeof(std::uint64_t)];
        std::uint64_t value = first + page;
        for (int at = 0; at != 400; ++at) value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15U;
        first = value;
      }
      madvise(mapped_, pages * page_bytes, MADV_DONTNEED);
    }
    return (thread_cpu_ns() - begin) / static_cast<double>(pages * steps);
  }

 private:
  static constexpr std::size_t page_bytes = 4096, pages = 1000;
  void* mapped_;
};

// The kernel calls the observer for the faults of all processes, so the other turn is without any observer; half of it is
// before, half after, in the same pages.
pair fresh_page_ns(const std::string& options) {
  constexpr std::size_t some_100_ms = 30;
  const fresh_pages pages;
  pages.touch_ns(some_100_ms);
  double earlier = pages.touch_ns(some_100_ms);
  return alternately(
      2 * rounds,
      [&] {
        adaptyst::collector collector("report=none," + options);
        require(collector);
        if (!collector.snapshot().context) throw std::runtime_error("there is no context: run as root, with eBPF");
        pages.touch_ns(10 * some_100_ms);  // the budget finds its step
        return pages.touch_ns(3 * some_100_ms);
      },
      [&] {
        const double previous = std::exchange(earlier, pages.touch_ns(some_100_ms));
        return (previous + earlier) / 2;
      });
}

}  // namespace

void context(measurements& results) {
  if (!adaptyst::collector("engine=inline,overhead=none,report=none,context=cpu").snapshot().context)
    throw std::runtime_error("there is no context: run as root, with eBPF");
  const pair of_region = alternately(
      rounds, [] { return region_ns("context=cpu"); }, [] { return region_ns("context=none"); });
  results["context_region_ns"] = of_region.first;
  results["context_over_inline"] = of_region.ratio;

  const pair of_switch = alternately(
      rounds, [] { return switch_ns("overhead=none,context=cpu"); },
      [] { return switch_ns("overhead=none,context=none"); });
  results["switch_with_context_ns"] = of_switch.first;
  results["switch_ns"] = of_switch.second;
  results["switch_with_context_over_switch"] = of_switch.ratio;
  results["switch_overhead_ns"] = (of_switch.ratio - 1) * of_switch.second;  // round by round

  // The warm-up lasts until the budget has set its step.
  const auto under = [](const char* budget) {
    return alternately(
        rounds, [&] { return switch_ns(std::string("context=cpu,overhead=") + budget, exchanges); },
        [] { return switch_ns("", exchanges); });
  };
  results["switch_budget_slowdown_percent"] = 100 * (under("2%").ratio - 1);
  const pair of_skipped = under("0.1%");  // the coarsest step
  results["switch_skipped_ns"] = (of_skipped.ratio - 1) * of_skipped.second;

  for (const char* const engine : {"inline", "ebpf"}) {
    const std::string key = std::string("budget_faults_") + (*engine == 'e' ? "" : "inline_") + "slowdown_percent";
    try_measuring(key.c_str(), [&] {
      const pair of_fault = fresh_page_ns(std::string("overhead=2%,context=cpu,faults,engine=") + engine);
      results[key] = 100 * (of_fault.ratio - 1);
      results["fresh_pages_per_s"] = 1e9 / of_fault.second;
    });
  }

  std::vector<double> starting;
  std::vector<double> stopping;
  for (unsigned round = 0; round != rounds; ++round) {
    const double begin = now_ns();
    adaptyst::collector collector("engine=ebpf,report=none,context=cpu,faults");
    starting.push_back((now_ns() - begin) * 1e-6);
    region();
    const double end = now_ns();
    collector.stop();
    stopping.push_back((now_ns() - end) * 1e-6);
  }
  results["attach_with_context_ms"] = median(starting);
  results["detach_with_context_ms"] = median(stopping);

  const pair of_stacks = alternately(
      rounds, [] { return switch_ns("overhead=none,context=cpu,samples"); },
      [] { return switch_ns("overhead=none,context=cpu"); });
  results["switch_with_stacks_ns"] = of_stacks.first;
  results["stacks_of_switch_ns"] = of_stacks.first - of_stacks.second;
  results["switch_stacks_budget_slowdown_percent"] =
      100 * (alternately(
                 rounds, [] { return switch_ns("overhead=2%,context=cpu,samples", exchanges); },
                 [] { return switch_ns("", exchanges); })
                 .ratio -
             1);
}

}  // namespace bench
