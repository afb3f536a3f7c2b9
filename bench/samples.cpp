// What sampling costs a program that computes: CPU time of the same work, in marked steps, sampled and not.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <ctime>

#include "measure.hpp"

namespace bench {

namespace {

constexpr std::uint64_t steps = 12'000;  // of some 10 us
constexpr unsigned rounds = 15;

volatile std::uint64_t sink = 0;

[[gnu::noinline]] void compute() {
  ADAPTYST_REGION("computes");
  std::uint64_t value = sink;
  for (int at = 0; at != 10'000; ++at) value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15U;
  sink = value;
}

// Not wall time: other programs on the core do not matter, but what interrupts this one counts.
double cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

double work_ns(const char* context) {
  const adaptyst::collector collector(std::string("engine=inline,report=none,") + context);
  for (std::uint64_t at = 0; at != steps / 20; ++at) compute();
  const double begin = cpu_ns();
  for (std::uint64_t at = 0; at != steps; ++at) compute();
  return cpu_ns() - begin;
}

double added_percent(const char* context) {
  return 100 * (alternately(
                    rounds, [&] { return work_ns(context); }, [] { return work_ns("context=cpu"); })
                    .ratio -
                1);
}

}  // namespace

double marked_work_ns() {
  for (std::uint64_t at = 0; at != steps / 20; ++at) compute();
  const double begin = cpu_ns();
  for (std::uint64_t at = 0; at != 10 * steps; ++at) compute();
  return cpu_ns() - begin;
}

void samples(measurements& results) {
  if (!adaptyst::collector("engine=inline,report=none,context=samples").snapshot().samples) return;  // not permitted
  results["sample_overhead_percent"] = added_percent("context=cpu,samples");
  results["sample_nothing_percent"] = added_percent("context=cpu");  // what the machine makes of no difference
  // Ten times as often, where it stands out from that.
  results["sample_ns"] = added_percent("context=cpu,samples,sample_frequency=9970") / 100 / 9970 * 1e9;
}

}  // namespace bench
