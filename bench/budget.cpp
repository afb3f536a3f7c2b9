// What a program of regions of 50 ns loses under an overhead budget of 2 %, and how far its figures are off.
#include <adaptyst/collector.hpp>
#include <adaptyst/region.hpp>

#include <cmath>

#include "measure.hpp"

namespace bench {

namespace {

constexpr unsigned rounds = 11;

// A chain of additions: as long as it takes, whatever is done beside it by instructions that do not wait for it.
[[gnu::noinline]] double chain(double value, unsigned turns) {
  for (unsigned at = 0; at != turns; ++at) {
    value += 1e-9;
    __asm__ volatile("" : "+m"(value));
  }
  return value;
}

[[gnu::noinline]] double regions(std::uint64_t times, unsigned turns) {
  double value = 0;
  const double begin = now_ns();
  for (std::uint64_t at = 0; at != times; ++at) {
    ADAPTYST_REGION("50 ns");
    value = chain(value, turns);
  }
  const double each = (now_ns() - begin) / static_cast<double>(times);
  __asm__ volatile("" : : "g"(&value) : "memory");
  return each;
}

const adaptyst::region& only_region(const adaptyst::profile& in) { return in.regions.front(); }

double mean_ns(const adaptyst::region& of) { return static_cast<double>(of.total_ns) / static_cast<double>(of.count); }

}  // namespace

void budget(results& to) {
  constexpr double wanted_ns = 50;
  constexpr std::uint64_t to_settle = 6'000'000;
  constexpr std::uint64_t times = 10'000'000;
  unsigned turns = 1;
  while (turns != 1000 && regions(200'000, turns) < wanted_ns) ++turns;
  std::vector<double> idle, slowdown, count_error, mean_error;
  for (unsigned round = 0; round != rounds; ++round) {
    idle.push_back(regions(times, turns));
    double sampled_ns;
    {
      adaptyst::collector collector("engine=inline,overhead=2%,report=none");
      regions(to_settle, turns);
      slowdown.push_back(100 * (regions(times, turns) / idle.back() - 1));
      const adaptyst::profile found = collector.stop();
      count_error.push_back(static_cast<double>(only_region(found).count) / (to_settle + times) - 1);
      sampled_ns = mean_ns(only_region(found));
    }
    adaptyst::collector collector("engine=inline,overhead=none,report=none");
    regions(to_settle, turns);
    mean_error.push_back(sampled_ns / mean_ns(only_region(collector.stop())) - 1);
  }
  const auto mean = [](const std::vector<double>& all) {
    double sum = 0;
    for (const double one : all) sum += one;
    return sum / static_cast<double>(all.size());
  };
  to["budget_region_ns"] = median(idle);
  to["budget_slowdown_percent"] = median(slowdown);
  to["budget_bias_percent"] = 100 * std::abs(mean(count_error));  // each is off by chance; together they must not be
  to["budget_mean_off_percent"] = 100 * median(mean_error);
}

}  // namespace bench
