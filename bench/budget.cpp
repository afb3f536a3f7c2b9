// What a program of regions of 50 ns loses under an overhead budget of 2 %, and how far its counts are off.
#include <adaptyst/collector.hpp>
#include <adaptyst/region.hpp>

#include <cmath>
#include <cstring>
#include <ctime>

#include "measure.hpp"

namespace bench {

namespace {

constexpr unsigned rounds = 15;

// CPU time of all threads, the collector's among them: what a preemption does not touch.
double cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return 1e9 * static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec);
}

// The CPU time of a region whose work is a chain of multiplications.
[[gnu::noinline]] double regions(std::uint64_t times, unsigned turns) {
  std::uint64_t value = 1;
  const double begin = cpu_ns();
  for (std::uint64_t at = 0; at != times; ++at) {
    ADAPTYST_REGION("50 ns");
    for (unsigned turn = 0; turn != turns; ++turn) {
      value *= 3;
      __asm__ volatile("" : "+r"(value));
    }
  }
  return (cpu_ns() - begin) / static_cast<double>(times);
}

// Steps of some 3 ns, with eight sums in registers: a call would have to put them away.
template <bool Marked>
[[gnu::noinline]] double sums_ns() {
  constexpr std::uint64_t times = 4'000'000;
  double a = 1, b = 2, c = 3, d = 4;
  const auto step = [&] {
    for (int half = 0; half != 2; ++half) {
      a = a * 0.5 + 1;
      b = b * 0.25 + 1;
      c = c * 0.125 + 1;
      d = d * 0.0625 + 1;
    }
  };
  const double begin = cpu_ns();
  for (std::uint64_t at = 0; at != times; ++at) {
    if constexpr (Marked) {
      ADAPTYST_REGION("left out");
      step();
    } else {
      step();
    }
  }
  const double end = cpu_ns();
  volatile double sum = a + b + c + d;
  static_cast<void>(sum);
  return (end - begin) / static_cast<double>(times);
}

// What a marker adds whose events are all left out.
double left_out_event_ns() {
  using namespace adaptyst::detail;
  adaptyst::collector collector("engine=inline,overhead=none,report=none");
  sums_ns<true>();
  for (const adaptyst_site* const site : get_process(adaptyst_object_v3)->sites.slots)
    if (site != nullptr && std::strcmp(site->name, "left out") == 0)
      store(const_cast<uint64_t&>(*site->step), uint64_t{ADAPTYST_STEP_SUBTREE});
  std::vector<double> difference;
  for (unsigned round = 0; round != rounds; ++round) {
    store(this_thread_recorder->left_out->gap[ADAPTYST_STEP_SUBTREE], ~std::uint32_t{0});
    const double with = sums_ns<true>();
    difference.push_back(with - sums_ns<false>());
  }
  return std::max(0.0, median(difference));
}

}  // namespace

void budget(measurements& results) {
  results["left_out_event_ns"] = left_out_event_ns();
  constexpr double wanted_ns = 50;
  constexpr std::uint64_t to_settle = 6'000'000;
  constexpr std::uint64_t times = 6'000'000;
  const auto idle_ns = [](unsigned turns) {
    double least = regions(100'000, turns);
    for (int at = 0; at != 15; ++at) least = std::min(least, regions(100'000, turns));
    return least;
  };
  unsigned turns = 1;
  while (turns != 1000 && idle_ns(turns) < wanted_ns) ++turns;
  std::vector<double> idle;
  std::vector<double> slowdown;
  double off = 0;
  for (unsigned round = 0; round != rounds; ++round) {
    const double before = regions(times, turns);
    double with_budget;
    {
      adaptyst::collector collector("engine=inline,overhead=2%,report=none");
      regions(to_settle, turns);
      with_budget = regions(times, turns);
      const auto count = static_cast<double>(collector.stop().regions.front().count);
      off += (count / (to_settle + times) - 1) / rounds;
    }
    idle.push_back((before + regions(times, turns)) / 2);
    slowdown.push_back(100 * (with_budget / idle.back() - 1));
  }
  results["budget_region_ns"] = median(idle);
  results["budget_slowdown_percent"] = median(slowdown);
  results["budget_bias_percent"] = 100 * std::abs(off);  // each count is off by chance; their mean must not be
}

}  // namespace bench
