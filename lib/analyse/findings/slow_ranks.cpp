// Finds ranks and nodes for which the others wait, and for each the region with the largest loss.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "detectors.hpp"
#include "run.hpp"
#include "stragglers.hpp"

namespace adaptyst::lib {

namespace {

// With thousands of ranks, the slowest rank exceeds the others by this many standard errors by chance in less than one
// of 20 regions.
constexpr double min_errors = 5;

const region* find_row(const profile& in, const heat_row& times) {
  for (const region& row : in.regions)
    if (row.id == times.region && row.device == times.device && row.across_ranks) return &row;
  return nullptr;
}

}  // namespace

void find_slow_ranks(const profile& in, findings& all_findings) {
  // If a bin holds several ranks, one slow rank hardly changes its mean.
  if (!in.heat || in.heat->ranks_per_bin != 1) return;
  const std::vector<std::string> hosts = list_hosts(in);
  std::map<std::pair<std::optional<std::uint32_t>, std::string>, finding> worst;
  for (const heat_row& times : in.heat->rows) {
    const region* const row = find_row(in, times);
    if (row == nullptr || is_a_wait(*row)) continue;
    for (const straggler& straggler : find_stragglers(times.mean_ns, hosts)) {
      // The time that the others wait if all ranks meet at the end.
      const double lost_ns =
          static_cast<double>(row->across_ranks->ranks - straggler.ranks) * (straggler.time_ns - straggler.median_ns);
      if (!is_significant(lost_ns, compute_duration(in))) continue;
      const double error_ns = find_rank_error(*row) / std::sqrt(static_cast<double>(straggler.ranks));
      if (straggler.time_ns - straggler.median_ns < min_errors * error_ns) continue;
      finding made = found_in(in, *row, straggler.rank ? finding_kind::slow_rank : finding_kind::slow_node, lost_ns);
      made.rank = straggler.rank;
      made.host = straggler.host;
      made.count = straggler.ranks;
      if (row->total_variance)
        made.error_ns = static_cast<double>(row->across_ranks->ranks - straggler.ranks) * error_ns;
      made.unit = finding_unit::ns;
      made.value = straggler.time_ns;
      made.against = straggler.median_ns;
      made.next = next_step::inspect_node;
      // Regions around it are slow as well, so the innermost region with most of the loss is reported.
      const auto [entry, is_new] = worst.try_emplace({straggler.rank, straggler.host}, made);
      if (is_new) continue;
      const bool is_deeper = made.path.size() > entry->second.path.size();
      const double factor = is_deeper ? 2 : 0.5;
      if (factor * made.time_ns > entry->second.time_ns) entry->second = std::move(made);
    }
  }
  for (auto& [who, finding] : worst) all_findings.push_back(std::move(finding));
}

}  // namespace adaptyst::lib
