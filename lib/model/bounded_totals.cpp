#include "bounded_totals.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "unmarked.hpp"

namespace adaptyst::lib {

namespace {

constexpr double max_excess = 1.1;

// The variance of a total that is only known to be between 0 and `max_ns`: that of a uniform distribution.
double uniform_variance(double max_ns) { return max_ns * max_ns / 12; }

void bring_down(region& row, double scale, double max_ns) {
  row.total_ns = static_cast<std::uint64_t>(scale * static_cast<double>(row.total_ns));
  row.self_ns = static_cast<std::uint64_t>(scale * static_cast<double>(row.self_ns));
  row.total_variance = std::min(row.total_variance.value_or(0), uniform_variance(max_ns));
}

// Reduces the estimates to at most `max_ns` in total. Returns whether that was necessary.
bool bound(std::vector<region*>& estimates, double max_ns) {
  double sum_ns = 0;
  for (const region* const row : estimates) sum_ns += static_cast<double>(row->total_ns);
  if (sum_ns <= max_excess * max_ns) return false;
  for (region* const row : estimates) bring_down(*row, max_ns / sum_ns, max_ns);
  return true;
}

bool is_estimate(const region& row) { return row.timed_events && row.kind == region_kind::region && row.device == 0; }

}  // namespace

void bound_estimated_totals(profile& in) {
  if (in.accounting.open != 0 || !in.accounting.lost.empty() || in.accounting.unmatched != 0) return;
  std::unordered_map<std::uint64_t, std::vector<region*>> below;  // the estimates, by the region around them
  for (region& row : in.regions)
    if (is_estimate(row)) below[row.parent].push_back(&row);
  if (below.empty()) return;
  const auto run_ns = static_cast<double>(compute_wall_ns(in));
  std::unordered_set<const region*> brought_down;
  for (region& row : in.regions) {
    if (!is_estimate(row) || run_ns == 0 || row.threads == 0) continue;
    if (std::vector<region*> alone{&row}; bound(alone, run_ns * row.threads)) brought_down.insert(&row);
  }
  for (const region& row : in.regions) {
    const auto nested = below.find(row.id);
    if (nested == below.end() || row.device != 0 || row.total_ns == 0) continue;  // 0 is no bound
    const bool is_known = !row.timed_events || brought_down.count(&row) != 0;
    if (is_known && bound(nested->second, static_cast<double>(row.total_ns)))
      brought_down.insert(nested->second.begin(), nested->second.end());
  }
}

}  // namespace adaptyst::lib
