// How much slower a program with regions of 50 ns is under an overhead budget of 2 %, and how far its counts, which are
// estimated, are off.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <cmath>
#include <cstring>

#include "measure.hpp"

namespace bench {

namespace {

constexpr unsigned rounds = 15;

// The CPU time of one region, over `times` of them.
[[gnu::noinline]] double region_ns(std::uint64_t times, unsigned turns) {
  std::uint64_t value = 1;
  const double begin = process_cpu_ns();
  for (std::uint64_t at = 0; at != times; ++at) {
    ADAPTYST_REGION("50 ns");
    multiply(value, turns);
  }
  return (process_cpu_ns() - begin) / static_cast<double>(times);
}

// The CPU time of one step, which is some 3 ns, with a marker or without. Four sums stay in registers all the time: if
// the marker called anything, the step would have to save them, and the figure would show it.
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
  const double begin = process_cpu_ns();
  for (std::uint64_t at = 0; at != times; ++at) {
    if constexpr (Marked) {
      ADAPTYST_REGION("left out");
      step();
    } else {
      step();
    }
  }
  const double end = process_cpu_ns();
  volatile double sum = a + b + c + d;
  static_cast<void>(sum);
  return (end - begin) / static_cast<double>(times);
}

// What a marker adds to a step when the overhead budget leaves all of its events out.
double left_out_event_ns() {
  using namespace adaptyst::detail;
  adaptyst::collector collector("engine=inline,overhead=none,report=none");
  sums_ns<true>();  // the marker is awake for the first time, so its site record is made
  for (const adaptyst_site* const site : get_process(adaptyst_object_v5)->sites.slots)
    if (site != nullptr && std::strcmp(site->name, "left out") == 0)
      store(const_cast<uint64_t&>(*site->step), uint64_t{ADAPTYST_STEP_SUBTREE});
  std::vector<double> differences;
  for (unsigned round = 0; round != rounds; ++round) {
    // More events than a round has: none is recorded.
    store(this_thread_recorder->left_out->skip_count[ADAPTYST_STEP_SUBTREE], ~std::uint32_t{0});
    const double with_marker = sums_ns<true>();
    differences.push_back(with_marker - sums_ns<false>());
  }
  return std::max(0.0, median(differences));
}

}  // namespace

void budget(measurements& results) {
  results["left_out_event_ns"] = left_out_event_ns();
  constexpr double wanted_ns = 50;
  constexpr std::uint64_t settling_times = 6'000'000;  // until the budget has found how much to leave out
  constexpr std::uint64_t times = 6'000'000;
  const auto shortest_ns = [](unsigned turns) {
    double shortest = region_ns(100'000, turns);
    for (int at = 0; at != 15; ++at) shortest = std::min(shortest, region_ns(100'000, turns));
    return shortest;
  };
  unsigned turns = 1;
  while (turns != 1000 && shortest_ns(turns) < wanted_ns) ++turns;
  std::vector<double> idle_ns;
  std::vector<double> slowdown_percent;
  double bias = 0;
  for (unsigned round = 0; round != rounds; ++round) {
    const double idle_before_ns = region_ns(times, turns);
    double with_budget_ns;
    {
      adaptyst::collector collector("engine=inline,overhead=2%,report=none");
      region_ns(settling_times, turns);
      with_budget_ns = region_ns(times, turns);
      const auto count = static_cast<double>(collector.stop().regions.front().count);
      bias += (count / (settling_times + times) - 1) / rounds;
    }
    idle_ns.push_back((idle_before_ns + region_ns(times, turns)) / 2);
    slowdown_percent.push_back(100 * (with_budget_ns / idle_ns.back() - 1));
  }
  results["budget_region_ns"] = median(idle_ns);
  results["budget_slowdown_percent"] = median(slowdown_percent);
  // The count of one round is off by chance; the mean of all rounds must not be.
  results["budget_bias_percent"] = 100 * std::abs(bias);
}

}  // namespace bench
