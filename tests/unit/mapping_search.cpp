// The search for mappings against brute force: every way to cut a chain, every device and count for each piece.
#include "advise/mapping_search.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "catch.hpp"

namespace {

using adaptyst::advised_stage;
using adaptyst::mapping;
using adaptyst::lib::chain_costs;

// Whole numbers, so that sums are exact in any order, and ties occur. Joules are in multiples of 10^-9 W ns.
chain_costs random_costs(std::mt19937& random, std::size_t max_regions, std::size_t types, std::uint32_t max_count) {
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  chain_costs made;
  made.regions = 1 + below(static_cast<std::uint32_t>(max_regions));
  made.pipelined = below(2) == 0;
  made.home = below(static_cast<std::uint32_t>(types));
  for (std::size_t type = 0; type != types; ++type) {
    made.counts.push_back(1 + below(max_count));
    made.watts.push_back(1 + below(8));
  }
  made.idle_watts = below(3);
  for (std::size_t region = 0; region != made.regions; ++region) {
    auto& row = made.times.emplace_back(types);
    for (std::size_t type = 0; type != types; ++type)
      for (std::uint32_t count = 1; count <= made.counts[type]; ++count) {
        const double ns = 1 + below(20);
        if (below(8) == 0) row[type].emplace_back();
        else row[type].push_back(chain_costs::place{ns, ns * 1e-9 * made.watts[type] * count});
      }
  }
  for (std::size_t boundary = 0; boundary <= made.regions; ++boundary) {
    auto& table = made.copies.emplace_back(types);
    for (std::size_t from = 0; from != types; ++from)
      for (std::size_t to = 0; to != types; ++to)
        table[from].push_back(from == to       ? std::optional<double>(0)
                              : below(10) == 0 ? std::nullopt
                                               : std::optional<double>(below(9)));
  }
  if (below(4) == 0) made.max_watts = 4 + below(12);
  return made;
}

using triple = std::array<double, 3>;  // period, latency, joules

// Written from the definition, and not from the code.
std::optional<triple> price(const chain_costs& in, const std::vector<advised_stage>& stages) {
  double longest = 0, latency = 0, joules = 0, drawn = in.idle_watts;
  std::vector<std::uint32_t> used(in.counts.size(), 0);
  for (std::size_t at = 0; at != stages.size(); ++at) {
    const advised_stage& stage = stages[at];
    const auto before = at == 0 ? in.home : stages[at - 1].device;
    const auto into = in.copies[stage.first][before][stage.device];
    if (!into) return std::nullopt;
    double copies = *into, work = 0;
    if (at + 1 == stages.size()) {
      const auto back = in.copies[in.regions][stage.device][in.home];
      if (!back) return std::nullopt;
      copies += *back;
    }
    for (std::size_t region = stage.first; region <= stage.last; ++region) {
      const auto& cell = in.times[region][stage.device][stage.count - 1];
      if (!cell) return std::nullopt;
      work += cell->ns;
    }
    longest = std::max(longest, copies + work);
    latency += copies + work;
    joules += (copies + work) * 1e-9 * in.watts[stage.device] * stage.count;
    const double stage_draws = in.watts[stage.device] * stage.count;
    drawn = in.pipelined ? drawn + stage_draws : std::max(drawn, in.idle_watts + stage_draws);
    used[stage.device] += stage.count;
    if (in.pipelined && used[stage.device] > in.counts[stage.device]) return std::nullopt;
  }
  if (in.max_watts && drawn > *in.max_watts) return std::nullopt;
  const double period = in.pipelined ? longest : latency;
  return triple{period, latency, joules + period * 1e-9 * in.idle_watts};
}

void visit_all(const chain_costs& in, std::vector<advised_stage>& stages,
               const std::function<void(const std::vector<advised_stage>&)>& visit) {
  const std::size_t first = stages.empty() ? 0 : stages.back().last + 1;
  if (first == in.regions) return visit(stages);
  for (std::size_t last = first; last != in.regions; ++last)
    for (std::size_t type = 0; type != in.counts.size(); ++type)
      for (std::uint32_t count = 1; count <= in.counts[type]; ++count) {
        stages.push_back({first, last, type, count});
        visit_all(in, stages, visit);
        stages.pop_back();
      }
}

// Joules are rounded sums: they are equal within a millionth of the smallest step.
constexpr double step = 1e-15;
bool is_as_good(const triple& a, const triple& b) { return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2] + step; }

std::vector<triple> front(const std::vector<triple>& all) {
  std::vector<triple> made;
  for (const triple& candidate : all) {
    const bool is_beaten = std::any_of(all.begin(), all.end(), [&](const triple& other) {
      return is_as_good(other, candidate) && !is_as_good(candidate, other);
    });
    const bool is_known = std::any_of(made.begin(), made.end(), [&](const triple& other) {
      return is_as_good(other, candidate) && is_as_good(candidate, other);
    });
    if (!is_beaten && !is_known) made.push_back(candidate);
  }
  return made;
}

std::vector<triple> brute_force(const chain_costs& in) {
  std::vector<triple> all;
  std::vector<advised_stage> stages;
  visit_all(in, stages, [&](const std::vector<advised_stage>& mapped) {
    if (const std::optional<triple> cost = price(in, mapped)) all.push_back(*cost);
  });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return front(all);
}

void check_against_brute_force(const chain_costs& costs) {
  const std::vector<triple> expected = brute_force(costs);
  std::vector<triple> found;
  for (const mapping& candidate : adaptyst::lib::find_pareto(costs)) {
    const std::optional<triple> cost = price(costs, candidate.stages);
    REQUIRE(cost);
    REQUIRE(candidate.period_ns == (*cost)[0]);
    REQUIRE(candidate.latency_ns == (*cost)[1]);
    REQUIRE(*candidate.joules == Approx((*cost)[2]));
    const std::optional<mapping> again = adaptyst::lib::evaluate_stages(costs, candidate.stages);
    REQUIRE(again);
    REQUIRE(again->period_ns == candidate.period_ns);
    REQUIRE(again->copy_ns == candidate.copy_ns);
    found.push_back(*cost);
  }
  found = front(found);  // what differs by rounding only
  REQUIRE(found.size() == expected.size());
  for (const triple& wanted : expected)
    REQUIRE(std::any_of(found.begin(), found.end(),
                        [&](const triple& other) { return is_as_good(other, wanted) && is_as_good(wanted, other); }));
}

}  // namespace

TEST_CASE("the whole Pareto front equals brute force, two types") {
  for (unsigned seed = 0; seed != 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    check_against_brute_force(random_costs(random, 5, 2, 2));
  }
}

TEST_CASE("the whole Pareto front equals brute force, three types or six regions") {
  for (unsigned seed = 1000; seed != 1100; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    check_against_brute_force(seed % 2 == 0 ? random_costs(random, 4, 3, 2) : random_costs(random, 6, 2, 1));
  }
}

TEST_CASE("of mappings that differ by rounding alone one is kept") {
  for (unsigned seed = 2000; seed != 2300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    chain_costs costs = random_costs(random, 5, 2, 2);
    // Tenths are no sums of powers of two: what is equal comes out different by the order of the sum.
    for (auto& region : costs.times)
      for (auto& type : region)
        for (auto& cell : type)
          if (cell) cell = chain_costs::place{cell->ns * 0.1, cell->joules * 0.1};
    for (auto& boundary : costs.copies)
      for (auto& from : boundary)
        for (auto& copy : from)
          if (copy) *copy *= 0.1;
    const std::vector<mapping> found = adaptyst::lib::find_pareto(costs);
    const auto equals_or_less = [](double a, double b) { return a <= b + 1e-9 * b; };
    for (const mapping& candidate : found)
      for (const mapping& other : found)
        CHECK((&candidate == &other || !equals_or_less(candidate.period_ns, other.period_ns) ||
               !equals_or_less(candidate.latency_ns, other.latency_ns) ||
               !equals_or_less(*candidate.joules, *other.joules)));
    // And none is missing.
    std::vector<advised_stage> stages;
    visit_all(costs, stages, [&](const std::vector<advised_stage>& all) {
      const std::optional<triple> cost = price(costs, all);
      if (!cost) return;
      CHECK(std::any_of(found.begin(), found.end(), [&](const mapping& candidate) {
        return equals_or_less(candidate.period_ns, (*cost)[0] * (1 + 1e-8)) &&
               equals_or_less(candidate.latency_ns, (*cost)[1] * (1 + 1e-8)) &&
               equals_or_less(*candidate.joules, (*cost)[2] * (1 + 1e-8));
      }));
    });
  }
}

TEST_CASE("keeping only the best period would lose the mapping of least energy") {
  // The fast device saves time in the first region that the second one makes pointless.
  chain_costs costs;
  costs.regions = 2;
  costs.pipelined = true;
  costs.counts = {1, 1, 1};
  costs.watts = {1, 10, 1};
  const auto place = [](double ns, double watts) { return std::optional(chain_costs::place{ns, ns * 1e-9 * watts}); };
  costs.times = {{{place(8, 1)}, {place(2, 10)}, {std::nullopt}}, {{std::nullopt}, {std::nullopt}, {place(10, 1)}}};
  costs.copies.assign(3,
                      std::vector<std::vector<std::optional<double>>>(3, std::vector<std::optional<double>>(3, 0.0)));
  const std::vector<mapping> found = adaptyst::lib::find_pareto(costs);
  // Both take 10 a period; the one on the frugal device needs 18e-9 J, the other 30e-9.
  REQUIRE(found.size() == 2);
  CHECK(found.front().period_ns == 10);
  CHECK(*found.front().joules == Approx(18e-9));
  CHECK(found.back().latency_ns == 12);
}

TEST_CASE("stages that are no mapping of the chain have no cost") {
  std::mt19937 random(3);
  chain_costs costs = random_costs(random, 4, 2, 1);
  while (costs.regions < 2) costs = random_costs(random, 4, 2, 1);
  const std::size_t last = costs.regions - 1;
  CHECK_FALSE(adaptyst::lib::evaluate_stages(costs, {}));
  CHECK_FALSE(adaptyst::lib::evaluate_stages(costs, {{0, last - 1, 0, 1}}));
  CHECK_FALSE(adaptyst::lib::evaluate_stages(costs, {{0, last + 1, 0, 1}}));
  CHECK_FALSE(adaptyst::lib::evaluate_stages(costs, {{1, last, 0, 1}}));
  CHECK_FALSE(adaptyst::lib::evaluate_stages(costs, {{0, last, 7, 1}}));
  CHECK_FALSE(adaptyst::lib::evaluate_stages(costs, {{0, last, 0, 2}}));
  CHECK_FALSE(adaptyst::lib::evaluate_stages(costs, {{0, last, 0, 0}}));
}
