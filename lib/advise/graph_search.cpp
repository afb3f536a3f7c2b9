// Dynamic program over the tree of the graph. The solutions of a series depend on the types of the region before and
// after it; each is a Pareto set in time, joules, power and devices held.
#include "region_graph.hpp"

#include <adaptyst/detail/error.hpp>
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace adaptyst::lib {

namespace {

constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t max_work = 100'000'000;  // comparisons of solutions: about a second
constexpr std::size_t max_traces = 1'000'000;

struct place {
  std::size_t type = nothing;
  std::uint32_t count = 0;
};

struct solution {
  double ns = 0, joules = 0, watts = 0, copied = 0;
  std::vector<std::uint32_t> held;  // devices of each type
  std::size_t trace = nothing;
};
using solutions = std::vector<solution>;

// The regions of a solution: a region's place, or two solutions.
struct solved_part {
  std::size_t first = nothing, second = nothing;
  std::size_t region = nothing;
  place on;
  bool is_parallel = false;  // the two solutions run at the same time
};

class graph_search {
 public:
  graph_search(const chain_costs& costs, const std::vector<place>& fixed)
      : costs_(costs), graph_(*costs.graph), fixed_(fixed), types_(costs.counts.size()) {}

  std::vector<mapping> run() {
    solutions found;
    for (const solution& whole : solve_series(graph_.root, costs_.home, costs_.home, costs_.regions)) {
      solution idle = whole;
      idle.joules += idle.ns * 1e-9 * costs_.idle_watts;
      keep(found, std::move(idle));
    }
    std::vector<mapping> made;
    for (const solution& whole : found) {
      mapping candidate;
      candidate.period_ns = candidate.latency_ns = whole.ns;
      candidate.copy_ns = whole.copied;
      candidate.joules = whole.joules;
      candidate.stages = list_stages(whole.trace);
      made.push_back(std::move(candidate));
    }
    std::sort(made.begin(), made.end(), [](const mapping& a, const mapping& b) {
      return std::pair(a.period_ns, *a.joules) < std::pair(b.period_ns, *b.joules);
    });
    return made;
  }

 private:
  static bool is_as_good(const solution& a, const solution& b) {
    if (!is_at_most(a.ns, b.ns) || !is_at_most(a.joules, b.joules) || !is_at_most(a.watts, b.watts)) return false;
    for (std::size_t type = 0; type != a.held.size(); ++type)
      if (a.held[type] > b.held[type]) return false;
    return true;
  }

  bool keep(solutions& set, solution made) {
    work_ += set.size() + 1;
    if (work_ > max_work || traces_.size() > max_traces)
      throw error("the chain has too many ways to share the devices among its branches", "chain", 0,
                  "name fewer branches or regions, or give fewer devices of a type");
    for (const solution& other : set)
      if (is_as_good(other, made)) return false;
    set.erase(std::remove_if(set.begin(), set.end(), [&](const solution& other) { return is_as_good(made, other); }),
              set.end());
    set.push_back(std::move(made));
    return true;
  }

  void keep_traced(solutions& set, solution made, solved_part from) {
    made.trace = traces_.size();
    if (keep(set, std::move(made))) traces_.push_back(from);
  }

  bool is_possible(const solution& made) const {
    for (std::size_t type = 0; type != types_; ++type)
      if (made.held[type] > costs_.counts[type]) return false;
    return !costs_.max_watts || is_at_most(made.watts + costs_.idle_watts, *costs_.max_watts);
  }

  // `before` ends, then `after` begins. Both may hold the same devices.
  solutions follow(const solutions& before, const solutions& after) {
    solutions made;
    for (const solution& first : before)
      for (const solution& second : after) {
        solution both = first;
        both.ns += second.ns;
        both.joules += second.joules;
        both.copied += second.copied;
        both.watts = std::max(first.watts, second.watts);
        for (std::size_t type = 0; type != types_; ++type)
          both.held[type] = std::max(first.held[type], second.held[type]);
        keep_traced(made, std::move(both), {first.trace, second.trace, nothing, {}, false});
      }
    return made;
  }

  // At the same time, on different devices.
  void add_parallel(const solutions& lane, const solutions& others, solutions& made) {
    for (const solution& first : lane)
      for (const solution& second : others) {
        solution both = first;
        both.ns = std::max(first.ns, second.ns);
        both.joules += second.joules;
        both.copied += second.copied;
        both.watts += second.watts;
        for (std::size_t type = 0; type != types_; ++type) both.held[type] += second.held[type];
        if (is_possible(both)) keep_traced(made, std::move(both), {first.trace, second.trace, nothing, {}, true});
      }
  }

  // By the type with the data before the series, and the type of the region after it, which has the boundary `out`.
  const solutions& solve_series(std::size_t series, std::size_t from, std::size_t to, std::size_t out) {
    const std::array<std::size_t, 3> key = {series, from, to};
    if (const auto solved = solved_.find(key); solved != solved_.end()) return solved->second;
    const std::vector<region_graph::part>& parts = graph_.series[series];
    std::vector<solutions> by_type(types_);
    by_type[from].emplace_back();
    by_type[from].front().held.assign(types_, 0);
    for (std::size_t at = 0; at != parts.size(); ++at) {
      const bool is_last = at + 1 == parts.size();
      const bool follows_block = at != 0 && !parts[at - 1].branches.empty();
      by_type = parts[at].branches.empty()
                    ? run_region(by_type, parts[at].region, follows_block, is_last ? to : nothing, out)
                    : run_block(by_type, parts[at], is_last ? to : nothing, is_last ? out : parts[at + 1].region);
      if (series == graph_.root) release(by_type);
    }
    solutions made;
    for (solutions& set : by_type)
      for (solution& each : set) keep(made, std::move(each));
    return solved_[key] = std::move(made);
  }

  // Outside of blocks, devices and power that were held do not limit later regions.
  void release(std::vector<solutions>& by_type) {
    for (solutions& set : by_type) {
      solutions made;
      for (solution& each : set) {
        each.watts = 0;
        each.held.assign(types_, 0);
        keep(made, std::move(each));
      }
      set = std::move(made);
    }
  }

  // After a block, the data is on the type of the region. `to`: the type after the last region of a series.
  std::vector<solutions> run_region(const std::vector<solutions>& before, std::size_t region, bool is_there,
                                    std::size_t to, std::size_t out) {
    std::vector<solutions> made(types_);
    for (std::size_t from = 0; from != types_; ++from)
      for (std::size_t type = 0; type != types_; ++type) {
        if (before[from].empty() || (is_there && from != type)) continue;
        const std::optional<double> into = is_there ? std::optional<double>(0) : costs_.copies[region][from][type];
        const std::optional<double> away = to == nothing ? std::optional<double>(0) : costs_.copies[out][type][to];
        if (!into || !away) continue;
        for (std::uint32_t count = 1; count <= costs_.counts[type]; ++count)
          run_on(before[from], region, {type, count}, *into + *away, made[type]);
      }
    return made;
  }

  void run_on(const solutions& before, std::size_t region, place on, double copied, solutions& made) {
    const std::optional<chain_costs::place>& time = costs_.times[region][on.type][on.count - 1];
    if (!time) return;
    if (!fixed_.empty() && (fixed_[region].type != on.type || fixed_[region].count != on.count)) return;
    const double watts = costs_.watts[on.type] * on.count;
    for (const solution& old : before) {
      solution next = old;
      next.ns += copied + time->ns;
      next.joules += copied * 1e-9 * watts + time->joules;
      next.copied += copied;
      if (costs_.max_watts) next.watts = std::max(old.watts, watts);
      next.held[on.type] = std::max(old.held[on.type], on.count);
      if (is_possible(next)) keep_traced(made, std::move(next), {old.trace, nothing, region, on, false});
    }
  }

  std::vector<solutions> run_block(const std::vector<solutions>& before, const region_graph::part& block,
                                   std::size_t to, std::size_t out) {
    std::vector<solutions> made(types_);
    for (std::size_t from = 0; from != types_; ++from) {
      if (before[from].empty()) continue;
      for (std::size_t next = 0; next != types_; ++next) {
        if (to != nothing && next != to) continue;
        for (solution& each : follow(before[from], solve_block(block, from, next, out)))
          keep(made[next], std::move(each));
      }
    }
    return made;
  }

  // Bit k of a set is branch k. The first branch of a set selects the lane that is split off.
  solutions solve_block(const region_graph::part& block, std::size_t from, std::size_t to, std::size_t out) {
    const std::size_t sets = std::size_t{1} << block.branches.size();
    std::vector<solutions> lanes(sets), blocks(sets);
    for (std::size_t set = 1; set != sets; ++set) {
      std::size_t first = 0;
      while ((set >> first & 1U) == 0) ++first;
      const std::size_t lowest = std::size_t{1} << first, rest = set - lowest;
      const solutions& branch = solve_series(block.branches[first], from, to, out);
      lanes[set] = rest == 0 ? branch : follow(branch, lanes[rest]);
      blocks[set] = lanes[set];
      for (std::size_t others = rest; others != 0; others = (others - 1) & rest)
        add_parallel(lanes[set - others], blocks[others], blocks[set]);
    }
    return std::move(blocks.back());
  }

  // Lanes are numbered in the order of their first regions.
  static void number_lanes(std::vector<advised_stage>& stages) {
    std::map<std::uint32_t, std::uint32_t> numbers = {{0, 0}};
    for (advised_stage& stage : stages)
      stage.lane = numbers.emplace(stage.lane, static_cast<std::uint32_t>(numbers.size())).first->second;
  }

  std::vector<advised_stage> list_stages(std::size_t whole) const {
    std::vector<place> places(costs_.regions);
    std::vector<std::uint32_t> lanes(costs_.regions, 0);
    std::vector<std::pair<std::size_t, std::uint32_t>> open = {{whole, 0}};
    std::uint32_t last_lane = 0;
    while (!open.empty()) {
      const auto [at, lane] = open.back();
      open.pop_back();
      if (at == nothing) continue;
      const solved_part& part = traces_[at];
      if (part.region != nothing) places[part.region] = part.on;
      if (part.region != nothing) lanes[part.region] = lane;
      open.emplace_back(part.first, part.is_parallel ? ++last_lane : lane);
      open.emplace_back(part.second, part.is_parallel ? ++last_lane : lane);
    }
    std::vector<advised_stage> made;
    for (const std::vector<region_graph::part>& parts : graph_.series) {
      bool continues = false;  // the last stage ends with the region before, in the same series
      for (const region_graph::part& part : parts) {
        const place on = part.branches.empty() ? places[part.region] : place{};
        if (continues && part.branches.empty() && made.back().device == on.type && made.back().count == on.count)
          made.back().last = part.region;
        else if (part.branches.empty())
          made.push_back({part.region, part.region, on.type, on.count, lanes[part.region]});
        continues = part.branches.empty();
      }
    }
    std::sort(made.begin(), made.end(),
              [](const advised_stage& a, const advised_stage& b) { return a.first < b.first; });
    number_lanes(made);
    return made;
  }

  const chain_costs& costs_;
  const region_graph& graph_;
  const std::vector<place>& fixed_;  // empty: all places are free
  std::size_t types_;
  std::map<std::array<std::size_t, 3>, solutions> solved_;
  std::vector<solved_part> traces_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::vector<mapping> find_graph_pareto(const chain_costs& costs) { return graph_search(costs, {}).run(); }

std::optional<mapping> evaluate_graph(const chain_costs& costs, const std::vector<advised_stage>& stages) {
  std::vector<place> fixed;
  for (const advised_stage& stage : stages) {
    if (stage.first != fixed.size() || stage.last < stage.first || stage.last >= costs.regions) return std::nullopt;
    if (stage.device >= costs.counts.size()) return std::nullopt;
    fixed.resize(stage.last + 1, {stage.device, stage.count});
  }
  if (fixed.size() != costs.regions) return std::nullopt;
  std::vector<mapping> found = graph_search(costs, fixed).run();
  if (found.empty()) return std::nullopt;
  std::vector<std::uint32_t> lanes(costs.regions, 0);
  for (const advised_stage& stage : found.front().stages)
    std::fill(&lanes[stage.first], &lanes[stage.last] + 1, stage.lane);
  found.front().stages = stages;
  for (advised_stage& stage : found.front().stages)
    stage.lane = lanes[stage.first] == lanes[stage.last] ? lanes[stage.first] : 0;
  return found.front();
}

}  // namespace adaptyst::lib
