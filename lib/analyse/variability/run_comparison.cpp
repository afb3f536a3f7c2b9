#include "run_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "../../support/error.hpp"
#include "flags.hpp"

namespace adaptyst::lib {

namespace {

constexpr double normal_95 = 1.96;  // the 97.5 % quantile of the normal distribution

// The divisor is n - 1; empty for fewer than two values.
std::optional<double> find_variance(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  const double middle = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return squares / (count - 1);
}

// Means of cells with equal weight, and the expected variance of such a mean by chance.
struct marginal_mean {
  double sum = 0, error_squared = 0;
  std::uint64_t cells = 0;
  void add(double mean, double error) {
    sum += mean;
    error_squared += error;
    ++cells;
  }
  double mean() const { return sum / static_cast<double>(cells); }
  double chance() const { return error_squared / static_cast<double>(cells * cells); }
};

// The standard deviation of the means, without the part that chance explains.
std::optional<double> find_variation(const std::map<std::size_t, marginal_mean>& of) {
  std::vector<double> means;
  double chance = 0;
  for (const auto& [place, mean] : of) {
    means.push_back(mean.mean());
    chance += mean.chance();
  }
  const std::optional<double> variance = find_variance(means);
  if (!variance) return std::nullopt;
  return std::sqrt(std::max(0.0, *variance - chance / static_cast<double>(means.size())));
}

std::string describe(const group_difference& difference) {
  return fmt::format("{:.2f} times as long", difference.ratio);
}

}  // namespace

std::size_t run_comparer::find_name(const std::string& name) {
  const auto [place, is_new] = name_places_.try_emplace(name, made_.names.size());
  if (is_new) made_.names.emplace_back().name = name;
  return place->second;
}

// Devices are the same if their UUIDs are; without UUIDs, if their numbers are. Processes have other numbers in each run.
std::size_t run_comparer::find_group(const variability_result& run, std::uint32_t group) {
  variability_group about = lib::find_group(run, group);
  std::string identity, label = group_name(run, group);
  switch (about.what) {
    case variability_group::kind::device: {
      const auto uuid = run.uuids.find(group);
      identity = uuid != run.uuids.end() ? uuid->second : fmt::format("GPU {}", about.number);
      break;
    }
    case variability_group::kind::rank: identity = fmt::format("rank {}", about.number); break;
    case variability_group::kind::process:
      identity = label = "all processes";
      about = {variability_group::kind::process, 0, {}, {}, {}};
      break;
  }
  const auto [place, is_new] = identities_.try_emplace(identity, made_.groups.size());
  if (!is_new) return place->second;
  // Two devices of different machines may have the same number.
  if (!labels_.insert(label).second) label += fmt::format(" ({})", identity);
  about.trace.clear();
  compared_group made;
  made.about = std::move(about);
  made.label = std::move(label);
  made_.groups.push_back(std::move(made));
  return place->second;
}

void run_comparer::add(const std::string& trace, const variability_result& run) {
  constexpr double natural = 0.69314718055994530942;  // ln 2
  compared_run about;
  about.trace = trace;
  about.windows = run.windows.size();
  for (const variability_window& window : run.windows) about.flagged += window.is_flagged ? 1 : 0;
  if (!made_.runs.empty() && run.settings.has_regions != made_.has_regions)
    throw error(fmt::format("{} has {}, {} has not", made_.has_regions ? about.trace : made_.runs.front().trace,
                            "work of devices", made_.has_regions ? made_.runs.front().trace : about.trace),
                0, "compare regions with --by region");
  made_.by = run.settings.by;
  made_.has_regions = run.settings.has_regions;
  made_.is_simulated = made_.is_simulated || run.is_simulated;
  for (const std::string& remark : run.remarks) made_.remarks.push_back(fmt::format("{}: {}", trace, remark));
  const std::size_t number = made_.runs.size();
  for (const variability_name& name : run.names) {
    about.count += name.count;
    about.total_ns += name.total;
    cell made;
    made.run = number;
    made.group = find_group(run, name.group);
    made.name = find_name(name.name);
    made.count = static_cast<double>(name.count);
    made.log_mean = name.log_mean * natural;
    made.log_variance = name.log_variance * natural * natural;
    cells_.push_back(made);
    compared_name& all = made_.names[made.name];
    all.count += name.count;
    all.total_ns += name.total;
  }
  for (const group_difference& difference : run.differences) {
    compared_group& group = made_.groups[find_group(run, difference.group)];
    if (group.about.what != variability_group::kind::process) group.runs.push_back({number, difference});
  }
  made_.runs.push_back(std::move(about));
}

run_comparison run_comparer::finish() {
  // Processes of a run share a group, so a name may have several cells there.
  std::sort(cells_.begin(), cells_.end(), [](const cell& a, const cell& b) {
    return std::tie(a.name, a.run, a.group) < std::tie(b.name, b.run, b.group);
  });
  std::vector<cell> joined;
  for (const cell& more : cells_) {
    if (joined.empty() || joined.back().name != more.name || joined.back().run != more.run ||
        joined.back().group != more.group) {
      joined.push_back(more);
      continue;
    }
    cell& to = joined.back();
    const double count = to.count + more.count, distance = more.log_mean - to.log_mean;
    to.log_variance = (to.count * to.log_variance + more.count * more.log_variance +
                       distance * distance * to.count * more.count / count) /
                      count;
    to.log_mean += distance * more.count / count;
    to.count = count;
  }
  cells_ = std::move(joined);
  compare_names();
  compare_runs();
  // Cells do not refer to groups any more.
  std::stable_sort(made_.groups.begin(), made_.groups.end(), [](const compared_group& a, const compared_group& b) {
    return std::tie(a.about.what, a.about.number, a.label) < std::tie(b.about.what, b.about.number, b.label);
  });
  compare_groups();
  std::stable_sort(made_.names.begin(), made_.names.end(), [](const compared_name& a, const compared_name& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return std::move(made_);
}

// An analysis of variance of the cells of each name: within a cell, between runs, and between devices. Only devices
// that have the name in each of its runs count for runs, and the reverse.
void run_comparer::compare_names() {
  for (std::size_t first = 0; first != cells_.size();) {
    std::size_t last = first;
    while (last != cells_.size() && cells_[last].name == cells_[first].name) ++last;
    compared_name& to = made_.names[cells_[first].name];
    to.mean_ns = to.total_ns / static_cast<double>(to.count);
    std::map<std::size_t, std::uint64_t> runs_of_group, groups_of_run;
    double squares = 0, freedom = 0;
    for (std::size_t at = first; at != last; ++at) {
      const cell& cell = cells_[at];
      ++runs_of_group[cell.group];
      ++groups_of_run[cell.run];
      squares += cell.count * cell.log_variance;
      freedom += cell.count - 1;
    }
    to.runs = groups_of_run.size();
    to.groups = runs_of_group.size();
    if (freedom > 0) to.within = std::sqrt(squares / freedom);
    std::map<std::size_t, marginal_mean> of_runs, of_groups;
    for (std::size_t at = first; at != last; ++at) {
      const cell& cell = cells_[at];
      const double chance = to.within ? *to.within * *to.within / cell.count : 0;
      if (runs_of_group[cell.group] == to.runs) of_runs[cell.run].add(cell.log_mean, chance);
      if (groups_of_run[cell.run] == to.groups) of_groups[cell.group].add(cell.log_mean, chance);
    }
    to.between_runs = find_variation(of_runs);
    to.between_groups = find_variation(of_groups);
    if (of_runs.size() > 1) {
      const auto is_less = [](const auto& a, const auto& b) { return a.second.mean() < b.second.mean(); };
      const auto [fastest, slowest] = std::minmax_element(of_runs.begin(), of_runs.end(), is_less);
      to.ratio = std::exp(slowest->second.mean() - fastest->second.mean());
      to.slowest = slowest->first;
      to.fastest = fastest->first;
      const auto runs = static_cast<double>(of_runs.size());
      double middle = 0, chance = 0;
      for (const auto& [run, mean] : of_runs) {
        middle += mean.mean() / runs;
        chance += mean.chance();
      }
      for (const auto& [run, mean] : of_runs) {
        run_ratio& made = to.of_runs.emplace_back();
        made.run = run;
        made.ratio = std::exp(mean.mean() - middle);
        if (!to.within) continue;
        // The run itself is in the middle of all.
        const double error = normal_95 * std::sqrt(mean.chance() * (1 - 2 / runs) + chance / (runs * runs));
        made.low = made.ratio * std::exp(-error);
        made.high = made.ratio * std::exp(error);
      }
    }
    first = last;
  }
}

// The ratio of a run's durations to those of the other runs, for the same names on the same devices: the mean over
// names and devices, weighted by the count in this run.
void run_comparer::compare_runs() {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<const cell*>> same;  // by name and group
  for (const cell& cell : cells_)
    if (cell.count >= static_cast<double>(min_compared_count)) same[{cell.name, cell.group}].push_back(&cell);
  for (std::size_t run = 0; run != made_.runs.size(); ++run) {
    double weights = 0, slower = 0, error_squared = 0;
    for (const auto& [place, all] : same) {
      const auto own = std::find_if(all.begin(), all.end(), [run](const cell* cell) { return cell->run == run; });
      if (own == all.end() || all.size() < 2) continue;
      marginal_mean others;
      for (const cell* const other : all)
        if (other->run != run) others.add(other->log_mean, other->log_variance / other->count);
      const double weight = (*own)->count;
      weights += weight;
      slower += weight * ((*own)->log_mean - others.mean());
      error_squared += weight * weight * ((*own)->log_variance / (*own)->count + others.chance());
    }
    if (weights == 0) continue;
    compared_run& to = made_.runs[run];
    to.difference = make_difference(0, slower / weights, std::sqrt(error_squared) / weights);
    to.is_slow = to.difference->is_slow();
    if (!to.is_slow) continue;
    made_.findings.push_back(
        {run_finding_kind::slow_run, std::nullopt, run, to.difference->ratio,
         fmt::format("{} is slow: the same {} take {} as in the other runs (z {}, limit {:.0f})", to.trace,
                     made_.has_regions ? "regions" : "kernels", describe(*to.difference),
                     to.difference->z ? fmt::format("{:.1f}", *to.difference->z) : "unlimited", least_errors)});
  }
}

void run_comparer::compare_groups() {
  std::vector<run_finding> findings;
  for (std::size_t at = 0; at != made_.groups.size(); ++at) {
    compared_group& group = made_.groups[at];
    bool has_z = true;
    for (const compared_group::in_run& run : group.runs) {
      group.slow_runs += run.difference.is_slow() ? 1 : 0;
      group.least_ratio = std::min(group.least_ratio.value_or(run.difference.ratio), run.difference.ratio);
      if (run.difference.z) group.least_z = std::min(group.least_z.value_or(*run.difference.z), *run.difference.z);
      has_z = has_z && run.difference.z;
    }
    if (!has_z) group.least_z.reset();
    group.is_slow = group.runs.size() > 1 && group.slow_runs == group.runs.size();
    if (!group.is_slow) continue;
    findings.push_back(
        {run_finding_kind::slow_in_every_run, at, std::nullopt, *group.least_ratio,
         fmt::format("{} is slow in each of {} runs: the same {} take at least {:.2f} times as long as on the others "
                     "(lowest z {}, limit {:.0f})",
                     group.label, group.runs.size(), made_.has_regions ? "regions" : "kernels", *group.least_ratio,
                     group.least_z ? fmt::format("{:.1f}", *group.least_z) : "unlimited", least_errors)});
  }
  made_.findings.insert(made_.findings.begin(), findings.begin(), findings.end());
}

}  // namespace adaptyst::lib
