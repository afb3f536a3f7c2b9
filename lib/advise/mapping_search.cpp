// The search extends labels state by state, in the order of finished regions, and removes dominated labels at once.
// Idle power is added last: joules = above idle + period × idle power grows with both terms, so a label that is
// dominated before is dominated after.
#include "mapping_search.hpp"

#include <adaptyst/detail/error.hpp>
#include <algorithm>
#include <limits>

#include "region_graph.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
constexpr std::size_t max_states = std::size_t{1} << 22U;  // counts of devices in use

struct label {
  double period = 0, latency = 0, joules = 0, copied = 0;
  std::size_t before = none;  // the previous label
  advised_stage stage;
};

bool is_as_good(const label& a, const label& b) {
  return is_at_most(a.period, b.period) && is_at_most(a.latency, b.latency) && is_at_most(a.joules, b.joules);
}

class search {
 public:
  explicit search(const chain_costs& costs) : costs_(costs), types_(costs.counts.size()) {
    std::size_t states = 1;
    for (const std::uint32_t count : costs.counts) {
      strides_.push_back(states);
      if (!costs.pipelined) continue;
      if (states > max_states / (std::size_t{count} + 1))
        throw error("the ways to share the devices are too many: more than 4 million", "", 0,
                    "give fewer devices of a type, or fewer types");
      states *= std::size_t{count} + 1;
    }
    used_states_ = states;
    sets_.resize((costs.regions + 1) * states * (types_ + 1));
  }

  std::vector<mapping> run() {
    all_.emplace_back();
    sets_[find_state(0, 0, types_)].push_back(0);
    for (std::size_t done = 0; done != costs_.regions; ++done)
      for (std::size_t used = 0; used != used_states_; ++used)
        for (std::size_t last = 0; last <= types_; ++last) {
          // Steps add labels to later states only.
          const std::vector<std::size_t> set = sets_[find_state(done, used, last)];
          if (!set.empty()) step(done, used, last, set);
        }
    return list_results();
  }

 private:
  std::size_t find_state(std::size_t done, std::size_t used, std::size_t last) const {
    return (done * used_states_ + used) * (types_ + 1) + last;
  }
  std::uint32_t count_used(std::size_t used, std::size_t type) const {
    return costs_.pipelined ? static_cast<std::uint32_t>(used / strides_[type] % (costs_.counts[type] + 1)) : 0;
  }

  // The power if all devices in use work.
  bool is_within_power(std::size_t used, std::size_t type, std::uint32_t more) const {
    if (!costs_.max_watts) return true;
    double watts = costs_.idle_watts;
    for (std::size_t at = 0; at != types_; ++at)
      watts += costs_.watts[at] * (count_used(used, at) + (at == type ? more : 0));
    return is_at_most(watts, *costs_.max_watts);
  }

  void step(std::size_t done, std::size_t used, std::size_t last, const std::vector<std::size_t>& set) {
    const std::size_t from = last == types_ ? costs_.home : last;
    for (std::size_t type = 0; type != types_; ++type) {
      const std::optional<double>& into = costs_.copies[done][from][type];
      if (!into) continue;
      for (std::uint32_t count = 1; count + count_used(used, type) <= costs_.counts[type]; ++count) {
        if (!is_within_power(used, type, count)) break;
        double sum = *into, copied = *into, joules = *into * 1e-9 * costs_.watts[type] * count;
        for (std::size_t region = done; region != costs_.regions; ++region) {
          const std::optional<chain_costs::place>& time = costs_.times[region][type][count - 1];
          if (!time) break;
          sum += time->ns;
          joules += time->joules;
          double stage_ns = sum, stage_joules = joules, stage_copied = copied;
          if (region + 1 == costs_.regions) {
            const std::optional<double>& back = costs_.copies[region + 1][type][costs_.home];
            if (!back) break;
            stage_ns += *back;
            stage_copied += *back;
            stage_joules += *back * 1e-9 * costs_.watts[type] * count;
          }
          const std::size_t now_used = costs_.pipelined ? used + strides_[type] * count : 0;
          for (const std::size_t at : set) {
            const label& old = all_[at];
            label made;
            made.latency = old.latency + stage_ns;
            made.period = costs_.pipelined ? std::max(old.period, stage_ns) : made.latency;
            made.joules = old.joules + stage_joules;
            made.copied = old.copied + stage_copied;
            made.before = at;
            made.stage = {done, region, type, count};
            keep(made, sets_[find_state(region + 1, now_used, type)]);
          }
        }
      }
    }
  }

  void keep(const label& made, std::vector<std::size_t>& set) {
    for (const std::size_t at : set)
      if (is_as_good(all_[at], made)) return;
    set.erase(std::remove_if(set.begin(), set.end(), [&](std::size_t at) { return is_as_good(made, all_[at]); }),
              set.end());
    set.push_back(all_.size());
    all_.push_back(made);
  }

  std::vector<mapping> list_results() {
    std::vector<std::size_t> set;
    for (std::size_t used = 0; used != used_states_; ++used)
      for (std::size_t last = 0; last != types_; ++last)
        for (const std::size_t at : sets_[find_state(costs_.regions, used, last)]) {
          label whole = all_[at];
          whole.joules += whole.period * 1e-9 * costs_.idle_watts;
          keep(whole, set);
        }
    std::vector<mapping> made;
    for (const std::size_t at : set) {
      mapping candidate;
      candidate.period_ns = all_[at].period;
      candidate.latency_ns = all_[at].latency;
      candidate.copy_ns = all_[at].copied;
      candidate.joules = all_[at].joules;
      for (std::size_t part = at; all_[part].before != none; part = all_[part].before)
        candidate.stages.push_back(all_[part].stage);
      std::reverse(candidate.stages.begin(), candidate.stages.end());
      if (!costs_.pipelined) join_stages(candidate.stages);
      made.push_back(std::move(candidate));
    }
    std::sort(made.begin(), made.end(), [](const mapping& a, const mapping& b) {
      return std::pair(a.period_ns, *a.joules) < std::pair(b.period_ns, *b.joules);
    });
    return made;
  }

  // For one item at a time, neighbours on the same devices are one group; the search may have split them anywhere.
  void join_stages(std::vector<advised_stage>& stages) const {
    for (std::size_t at = 1; at < stages.size();) {
      advised_stage& before = stages[at - 1];
      const advised_stage& stage = stages[at];
      const std::size_t type = stage.device;
      if (before.device == type && before.count == stage.count && costs_.copies[stage.first][type][type] == 0.0) {
        before.last = stage.last;
        stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        ++at;
      }
    }
  }

  const chain_costs& costs_;
  std::size_t types_;
  std::vector<std::size_t> strides_;
  std::size_t used_states_ = 1;
  std::vector<std::vector<std::size_t>> sets_;
  std::vector<label> all_;
};

void add_to(std::optional<double>& sum, const std::optional<double>& more, double share) {
  if (sum && more) *sum += *more * share;
  else sum.reset();
}

void add_to(std::optional<chain_costs::place>& sum, const std::optional<chain_costs::place>& more, double share) {
  if (sum && more) sum = {sum->ns + more->ns * share, sum->joules + more->joules * share};
  else sum.reset();
}

// Tables are [a][b][c]; all have the same form.
template <class Table>
void average_tables(Table& sum, const std::vector<const Table*>& all) {
  const double share = 1 / static_cast<double>(all.size());
  for (std::size_t a = 0; a != sum.size(); ++a)
    for (std::size_t b = 0; b != sum[a].size(); ++b)
      for (std::size_t c = 0; c != sum[a][b].size(); ++c) {
        if (sum[a][b][c]) sum[a][b][c].emplace();
        for (const Table* const table : all) add_to(sum[a][b][c], (*table)[a][b][c], share);
      }
}

}  // namespace

chain_costs average(const std::vector<chain_costs>& all) {
  chain_costs made = all.front();
  std::vector<const decltype(made.times)*> times;
  std::vector<const decltype(made.copies)*> copies;
  for (const chain_costs& each : all) {
    times.push_back(&each.times);
    copies.push_back(&each.copies);
  }
  average_tables(made.times, times);
  average_tables(made.copies, copies);
  return made;
}

std::vector<mapping> find_pareto(const chain_costs& costs) {
  return costs.graph != nullptr ? find_graph_pareto(costs) : search(costs).run();
}

namespace {

// Whether enough devices and power exist: in a pipeline for all stages together, otherwise for each stage.
bool has_devices(const chain_costs& costs, const std::vector<advised_stage>& stages) {
  std::vector<std::uint64_t> used(costs.counts.size());
  double watts = costs.idle_watts;
  for (const advised_stage& stage : stages) {
    if (stage.device >= used.size() || stage.count == 0) return false;
    if (!costs.pipelined) {
      used[stage.device] = 0;
      watts = costs.idle_watts;
    }
    used[stage.device] += stage.count;
    watts += costs.watts[stage.device] * stage.count;
    if (used[stage.device] > costs.counts[stage.device] || (costs.max_watts && !is_at_most(watts, *costs.max_watts)))
      return false;
  }
  return true;
}

}  // namespace

std::optional<mapping> evaluate_stages(const chain_costs& costs, const std::vector<advised_stage>& stages) {
  if (costs.graph != nullptr) return evaluate_graph(costs, stages);
  if (!has_devices(costs, stages)) return std::nullopt;
  mapping made;
  made.stages = stages;
  for (advised_stage& stage : made.stages) stage.lane = 0;
  made.joules = 0;
  std::size_t from = costs.home, next = 0;
  for (const advised_stage& stage : stages) {
    if (stage.first != next || stage.last < stage.first || stage.last >= costs.regions) return std::nullopt;
    next = stage.last + 1;
    const std::optional<double>& into = costs.copies[stage.first][from][stage.device];
    const std::optional<double> back =
        next == costs.regions ? costs.copies[next][stage.device][costs.home] : std::optional<double>(0);
    if (!into || !back) return std::nullopt;
    double sum = *into + *back;
    *made.joules += sum * 1e-9 * costs.watts[stage.device] * stage.count;
    made.copy_ns += sum;
    for (std::size_t region = stage.first; region <= stage.last; ++region) {
      const std::optional<chain_costs::place>& time = costs.times[region][stage.device][stage.count - 1];
      if (!time) return std::nullopt;
      sum += time->ns;
      *made.joules += time->joules;
    }
    made.latency_ns += sum;
    made.period_ns = costs.pipelined ? std::max(made.period_ns, sum) : made.latency_ns;
    from = stage.device;
  }
  if (next != costs.regions) return std::nullopt;
  *made.joules += made.period_ns * 1e-9 * costs.idle_watts;
  return made;
}

}  // namespace adaptyst::lib
