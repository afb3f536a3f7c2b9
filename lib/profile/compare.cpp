#include <adaptyst/compare.hpp>
#include <algorithm>
#include <cmath>
#include <tuple>

namespace adaptyst { inline namespace v1 {

namespace {

using key = std::tuple<std::vector<std::string>, region_kind, std::optional<device_kind>, std::uint32_t>;

struct summed {
  compared_side side;
  histogram durations;
};

struct pair_of_sides {
  std::optional<summed> before, after;
};

std::optional<summed>& side_of(pair_of_sides& both, bool is_after) { return is_after ? both.after : both.before; }

void add_rows(std::map<key, pair_of_sides>& to, const profile& of, bool is_after) {
  for (const region& row : of.regions) {
    const bool known = row.device < of.devices.size();
    const device_usage* const device = known ? &of.devices[row.device] : nullptr;
    const key same{row.path, row.kind, known ? std::optional(device->kind) : std::nullopt,
                   known ? device->index : row.device};
    std::optional<summed>& there = side_of(to[same], is_after);
    if (!there) there.emplace();
    there->side.count += row.count;
    if (row.total_ns != 0 || row.durations.count() != 0)
      there->side.total_ns = there->side.total_ns.value_or(0) + row.total_ns;
    there->durations.merge(row.durations);
  }
}

double total_of(const std::optional<compared_side>& side) {
  return side ? static_cast<double>(side->total_ns.value_or(0)) : 0;
}

std::optional<double> change(std::optional<double> before, std::optional<double> after) {
  if (!before || !after || *before == 0) return std::nullopt;
  return *after / *before - 1;
}

double duration_of(const profile& of) {
  double sum = 0;
  for (const process_info& process : of.processes) sum += static_cast<double>(process.duration_ns);
  return sum;
}

// S. Holm: A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979). It holds however the
// tests depend on each other, as those of nested regions do.
void correct_for_number(std::vector<compared_region>& regions) {
  std::vector<double*> all;
  for (compared_region& one : regions)
    if (one.test) all.push_back(&one.test->p);
  std::sort(all.begin(), all.end(), [](const double* a, const double* b) { return *a < *b; });
  double least = 0;
  for (std::size_t at = 0; at != all.size(); ++at) {
    least = std::max(least, std::min(1.0, *all[at] * static_cast<double>(all.size() - at)));
    *all[at] = least;
  }
}

}  // namespace

std::optional<double> compared_side::mean_ns() const {
  if (!total_ns || count == 0) return std::nullopt;
  return static_cast<double>(*total_ns) / static_cast<double>(count);
}

std::optional<double> compared_region::change_of_total() const {
  const auto total = [](const std::optional<compared_side>& of) {
    return of && of->total_ns ? std::optional(static_cast<double>(*of->total_ns)) : std::nullopt;
  };
  return change(total(before), total(after));
}

std::optional<double> compared_region::change_of_mean() const {
  const auto mean = [](const std::optional<compared_side>& of) { return of ? of->mean_ns() : std::nullopt; };
  return change(mean(before), mean(after));
}

bool compared_region::significant() const { return test && test->p < significance_level; }

bool compared_region::slower_by(double fraction) const {
  const std::optional<double> grown = change_of_mean();
  return grown && *grown > fraction && significant() && test->slower > 0.5;
}

comparison compare(const profile& before, const profile& after, double least_share) {
  std::map<key, pair_of_sides> rows;
  add_rows(rows, before, false);
  add_rows(rows, after, true);

  const double least_before = least_share * duration_of(before);
  const double least_after = least_share * duration_of(after);
  comparison made;
  for (const auto& [names, both] : rows) {
    compared_region one;
    std::tie(one.path, one.kind, one.device_kind, one.device_index) = names;
    if (both.before) one.before = both.before->side;
    if (both.after) one.after = both.after->side;
    if (total_of(one.before) < least_before && total_of(one.after) < least_after) {
      ++made.ignored;
      continue;
    }
    if (both.before && both.after) one.test = rank_test(both.before->durations, both.after->durations);
    made.regions.push_back(std::move(one));
  }
  correct_for_number(made.regions);
  const auto moved = [](const compared_region& of) { return std::abs(total_of(of.after) - total_of(of.before)); };
  std::stable_sort(made.regions.begin(), made.regions.end(),
                   [&](const compared_region& a, const compared_region& b) { return moved(a) > moved(b); });
  return made;
}

}}  // namespace adaptyst::v1
