// What an overhead budget of 2 % makes of regions in regions: what a program loses, and how far times are off.
//
// `tree`: three deep, each region has 50 ns of its own and four below it. `chain`: three deep, 50 ns in the innermost,
// and nothing else. What a region lasts in truth is known from the same program while nothing listens.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

namespace {

constexpr unsigned rounds = 15;
constexpr unsigned children = 4;

std::uint64_t value = 1;

// A chain through memory that the compiler does not know: regions cannot overlap.
void work(unsigned turns) {
  std::uint64_t now = value;
  for (unsigned turn = 0; turn != turns; ++turn) {
    now *= 3;
    __asm__ volatile("" : "+r"(now));
  }
  value = now;
}

[[gnu::noinline]] void leaf(unsigned turns) {
  ADAPTYST_REGION("leaf");
  work(turns);
}
[[gnu::noinline]] void middle(unsigned turns) {
  ADAPTYST_REGION("middle");
  work(turns);
  for (unsigned at = 0; at != children; ++at) leaf(turns);
}
[[gnu::noinline]] void tree(unsigned turns) {
  ADAPTYST_REGION("outer");
  work(turns);
  for (unsigned at = 0; at != children; ++at) middle(turns);
}
[[gnu::noinline]] void only_middle(unsigned turns) {
  ADAPTYST_REGION("middle");
  leaf(turns);
}
[[gnu::noinline]] void chain(unsigned turns) {
  ADAPTYST_REGION("outer");
  only_middle(turns);
}

// CPU time of one call.
double measure_ns(void (*program)(unsigned), std::uint64_t times, unsigned turns) {
  const double begin = process_cpu_ns();
  for (std::uint64_t at = 0; at != times; ++at) program(turns);
  return (process_cpu_ns() - begin) / static_cast<double>(times);
}

struct observed {
  std::vector<double> outer, middle, leaf;  // total over that of the program while nothing listens
  std::vector<double> child_over_parent;    // the greater of both
  std::vector<double> floor_ns;             // what each timed event was shortened by
};

double find_total(const adaptyst::profile& in, const char* name) {
  double sum = 0;
  for (const adaptyst::region& row : in.regions)
    if (row.path.back() == name) sum += static_cast<double>(row.total_ns);
  return sum;
}

// `middle`, `leaf`: what they are of the whole.
observed observe(void (*program)(unsigned), std::uint64_t times, unsigned turns, double middle, double leaf) {
  observed made;
  for (unsigned round = 0; round != rounds; ++round) {
    const double before = measure_ns(program, times, turns);
    adaptyst::profile found;
    {
      adaptyst::collector collector("engine=inline,overhead=2%,report=none");
      measure_ns(program, times, turns);
      measure_ns(program, times, turns);
      found = collector.stop();
    }
    const double idle = (before + measure_ns(program, times, turns)) / 2;
    const double truth = idle * 2 * static_cast<double>(times);
    made.floor_ns.push_back(found.sampled_floor_ns.value_or(0));
    made.outer.push_back(find_total(found, "outer") / truth);
    made.middle.push_back(find_total(found, "middle") / truth / middle);
    made.leaf.push_back(find_total(found, "leaf") / truth / leaf);
    made.child_over_parent.push_back(std::max(find_total(found, "leaf") / find_total(found, "middle"),
                                              find_total(found, "middle") / find_total(found, "outer")));
  }
  return made;
}

// Percent, in slices of `times` calls.
double slowdown(void (*program)(unsigned), std::uint64_t times, unsigned turns) {
  const auto run = [=](const char* options) {
    return [=](auto&& serve) {
      std::optional<adaptyst::collector> collector;
      if (options != nullptr) require(collector.emplace(options));
      serve([=] { return measure_ns(program, times, turns); });
    };
  };
  return 100 * (in_slices(100, 100, run("engine=inline,overhead=2%,report=none"), run(nullptr)).ratio - 1);
}

}  // namespace

void nested_budget(measurements& results) {
  constexpr double wanted_ns = 50;
  unsigned turns = 1;
  const auto leaf_ns = [](unsigned length) {
    double least = measure_ns(leaf, 100'000, length);
    for (int at = 0; at != 15; ++at) least = std::min(least, measure_ns(leaf, 100'000, length));
    return least;
  };
  while (turns != 1000 && leaf_ns(turns) < wanted_ns) ++turns;
  constexpr double regions = 1 + children + children * children;
  const observed wide = observe(tree, 1'000'000, turns, (regions - 1) / regions, children * children / regions);
  results["budget_slowdown_nested_percent"] = slowdown(tree, 20'000, turns);
  results["budget_total_outer"] = median(wide.outer);
  results["budget_total_middle"] = median(wide.middle);
  results["budget_total_leaf"] = median(wide.leaf);
  results["budget_sampled_floor_ns"] = median(wide.floor_ns);
  double worst = 0;
  for (const char* const level : {"outer", "middle", "leaf"})
    worst = std::max(worst, std::abs(results[std::string("budget_total_") + level] - 1));
  results["budget_total_bias_percent"] = 100 * worst;
  const observed narrow = observe(chain, 6'000'000, turns, 1, 1);
  results["budget_slowdown_chain_percent"] = slowdown(chain, 120'000, turns);
  results["sampled_child_over_parent"] = median(narrow.child_over_parent);
}

}  // namespace bench
