// What a region costs that the program's own recorder sums, against the two timestamps that every measurement needs.
#include <adaptyst/collector.hpp>
#include <adaptyst/detail/clock.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <sched.h>

#include <atomic>
#include <thread>

#include "measure.hpp"

namespace bench {

namespace {

constexpr std::uint64_t times = 2'000'000;
constexpr const char* quiet = "engine=inline,overhead=none,report=none";

[[gnu::noinline]] void region() {
  ADAPTYST_REGION("inline");
  __asm__ volatile("");
}

constexpr std::uint64_t phases_in_scope = 1000;

// Each phase but the last ends by the begin of the next.
[[gnu::noinline]] void phases() {
  ADAPTYST_PHASES("first phase");
  for (std::uint64_t at = 0; at != phases_in_scope / 2; ++at) {
    ADAPTYST_NEXT("even phase");
    __asm__ volatile("");
    ADAPTYST_NEXT("odd phase");
    __asm__ volatile("");
  }
}

[[gnu::noinline]] void two_timestamps() {
  const std::uint64_t begin = adaptyst::detail::ticks();
  __asm__ volatile("" : : "r"(begin) : "memory");
  const std::uint64_t end = adaptyst::detail::ticks();
  __asm__ volatile("" : : "r"(end) : "memory");
}

// The cost of a region on each of `threads` threads at once, each on a processor of its own: the mean.
double on_threads(unsigned threads) {
  std::atomic<unsigned> ready{0};
  std::vector<double> cost(threads);
  std::vector<std::thread> running;
  for (unsigned at = 0; at != threads; ++at)
    running.emplace_back([&, at] {
      cpu_set_t single_cpu;
      CPU_ZERO(&single_cpu);
      CPU_SET(at, &single_cpu);
      sched_setaffinity(0, sizeof single_cpu, &single_cpu);
      ++ready;
      while (ready != threads) {}
      cost[at] = step_ns(times, region);
    });
  for (std::thread& thread : running) thread.join();
  double sum = 0;
  for (const double thread_cost : cost) sum += thread_cost;
  return sum / threads;
}

}  // namespace

double one_inline_region_ns() {
  adaptyst::collector collector(quiet);
  return step_ns(times, region);
}

void inline_engine(measurements& results) {
  adaptyst::collector collector(quiet);
  const pair against_floor = alternately(
      15, [] { return step_ns(times, region); }, [] { return step_ns(times, two_timestamps); });
  results["inline_region_ns"] = against_floor.first;
  results["two_timestamps_ns"] = against_floor.second;
  results["inline_over_floor"] = against_floor.ratio;

  const pair next_against_floor = alternately(
      15, [] { return step_ns(times / phases_in_scope, phases) / phases_in_scope; },
      [] { return step_ns(times, two_timestamps); });
  results["next_region_ns"] = next_against_floor.first;
  results["next_region_over_floor"] = next_against_floor.ratio;

  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const pair scaling = alternately(
      11, [=] { return on_threads(cores); }, [] { return on_threads(1); });
  results["inline_thread_scaling"] = scaling.ratio;
  results["inline_threads"] = cores;
}

// A program of short regions: the slow-down that the collector states against the one that a clock shows.
void perturbation(measurements& results) {
  constexpr std::uint64_t regions = 300'000;
  std::uint64_t value = 1;
  const auto loop = [&] {
    return step_ns(regions, [&] {
      ADAPTYST_REGION("short");
      multiply(value, 3);
    });
  };
  for (const std::string engine : {"inline", "ebpf"}) {
    if (engine == "ebpf" && results.count("ebpf_region_ns") == 0) continue;
    std::vector<double> stated_ns;
    std::vector<double> measured_ns;
    for (unsigned round = 0; round != 15; ++round) {
      double without = loop();
      adaptyst::collector collector("report=none,overhead=none,context=none,engine=" + engine);
      const double with = loop();
      stated_ns.push_back(*collector.stop().accounting.overhead_ns / static_cast<double>(regions));
      without = (without + loop()) / 2;
      measured_ns.push_back(with - without);
    }
    results["perturbation_" + engine + "_stated_ns"] = median(stated_ns);
    results["perturbation_" + engine + "_measured_ns"] = median(measured_ns);
    results["perturbation_" + engine + "_stated_over_measured"] = median(stated_ns) / median(measured_ns);
  }
}

}  // namespace bench
