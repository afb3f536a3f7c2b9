// What an overhead budget of 2 % makes of regions in regions: what a program loses, and how far times are off.
//
// `tree`: three deep, each region has 50 ns of its own and four below it. `chain`: three deep, 50 ns in the innermost,
// and nothing else. The true duration of a region is that in the same program without a collector, in alternating slices.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

namespace {

constexpr unsigned rounds = 11;
constexpr unsigned children = 4;

std::uint64_t value = 1;

// A chain through memory that the compiler does not know: regions cannot overlap.
void work(unsigned turns) {
  std::uint64_t now = value;
  multiply(now, turns);
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

// CPU time of all calls.
double measure_ns(void (*program)(unsigned), std::uint64_t times, unsigned turns) {
  const double begin = process_cpu_ns();
  for (std::uint64_t at = 0; at != times; ++at) program(turns);
  return process_cpu_ns() - begin;
}

struct totals {
  double outer, middle, leaf;
  double floor_ns;  // what each timed event was shortened by
};

totals find_totals(const adaptyst::profile& in) {
  totals made{0, 0, 0, in.sampled_floor_ns.value_or(0)};
  for (const adaptyst::region& row : in.regions)
    for (const auto& [name, total] :
         {std::pair("outer", &made.outer), std::pair("middle", &made.middle), std::pair("leaf", &made.leaf)})
      if (row.path.back() == name) *total += static_cast<double>(row.total_ns);
  return made;
}

struct observed {
  std::vector<double> outer, middle, leaf;  // total over that of the program while nothing listens
  std::vector<double> child_over_parent;    // the greater of both
  std::vector<double> floor_ns;
  std::vector<double> slowdown_percent;
};

// Each round is two processes, one without a collector, in slices of `times` calls. `middle`, `leaf`: what they are of the
// whole.
observed observe(void (*program)(unsigned), std::uint64_t times, unsigned turns, double middle, double leaf) {
  const in_shared_memory<totals> found;
  const auto slice = [=] { return measure_ns(program, times, turns); };
  observed made;
  for (unsigned round = 0; round != rounds; ++round) {
    *found = {};
    const pair sums = in_slices(
        100, 0,
        [&](auto&& serve) {
          adaptyst::collector collector("engine=inline,overhead=2%,report=none");
          require(collector);
          serve(slice);
          *found = find_totals(collector.stop());
        },
        [&](auto&& serve) { serve(slice); });
    if (found->outer == 0) throw std::runtime_error("the observed process has given no totals");
    made.slowdown_percent.push_back(100 * (sums.ratio - 1));
    made.floor_ns.push_back(found->floor_ns);
    made.outer.push_back(found->outer / sums.second_sum);
    made.middle.push_back(found->middle / sums.second_sum / middle);
    made.leaf.push_back(found->leaf / sums.second_sum / leaf);
    made.child_over_parent.push_back(std::max(found->leaf / found->middle, found->middle / found->outer));
  }
  return made;
}

}  // namespace

void nested_budget(measurements& results) {
  constexpr double wanted_ns = 50;
  unsigned turns = 1;
  const auto leaf_ns = [](unsigned length) {
    constexpr std::uint64_t times = 100'000;
    double least = measure_ns(leaf, times, length);
    for (int at = 0; at != 15; ++at) least = std::min(least, measure_ns(leaf, times, length));
    return least / static_cast<double>(times);
  };
  while (turns != 1000 && leaf_ns(turns) < wanted_ns) ++turns;
  constexpr double regions = 1 + children + children * children;
  const observed wide = observe(tree, 20'000, turns, (regions - 1) / regions, children * children / regions);
  results["budget_slowdown_nested_percent"] = median(wide.slowdown_percent);
  results["budget_total_outer"] = median(wide.outer);
  results["budget_total_middle"] = median(wide.middle);
  results["budget_total_leaf"] = median(wide.leaf);
  results["budget_sampled_floor_ns"] = median(wide.floor_ns);
  double worst = 0;
  for (const char* const level : {"outer", "middle", "leaf"})
    worst = std::max(worst, std::abs(results[std::string("budget_total_") + level] - 1));
  results["budget_total_bias_percent"] = 100 * worst;
  const observed narrow = observe(chain, 120'000, turns, 1, 1);
  results["budget_slowdown_chain_percent"] = median(narrow.slowdown_percent);
  results["sampled_child_over_parent"] = median(narrow.child_over_parent);
}

}  // namespace bench
