// Finds collective MPI calls in which ranks wait for the last rank, that rank, and the region in which it is late.
#include <algorithm>

#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// The region in which this rank exceeds the mean of all ranks most. Outer regions include the excess of nested ones, so
// the result is the region with the longest path of those with at least 80 % of the greatest excess.
const region* find_where(const profile& in, std::uint32_t rank) {
  constexpr double min_share = 0.8;
  const auto excess_ns = [&](const region& row) {
    if (!row.across_ranks || is_a_wait(row) || row.across_ranks->total_ns.max_rank != rank) return 0.0;
    const rank_totals& totals = row.across_ranks->total_ns;
    return static_cast<double>(totals.max) - totals.mean().value_or(0);
  };
  double greatest_ns = 0;
  for (const region& row : in.regions) greatest_ns = std::max(greatest_ns, excess_ns(row));
  const region* found = nullptr;
  for (const region& row : in.regions)
    if (const double own_ns = excess_ns(row); own_ns > 0 && own_ns >= min_share * greatest_ns)
      if (found == nullptr || row.path.size() > found->path.size()) found = &row;
  return found;
}

}  // namespace

void find_late_ranks(const profile& in, findings& all_findings) {
  for (const region& row : in.regions) {
    if (!row.collective || row.collective->time_ns == 0) continue;
    const collective_waits& collective = *row.collective;
    const double part = static_cast<double>(collective.waited_ns) / static_cast<double>(collective.time_ns);
    const double waited_ns = part * static_cast<double>(row.total_ns);
    const double error_ns = part * row.total_error_ns().value_or(0);
    if (part < min_part || !is_significant(waited_ns - 2 * error_ns, compute_duration(in))) continue;
    finding made = found_in(in, row, finding_kind::late_rank, waited_ns);
    if (2 * collective.last_waited_ns > collective.waited_ns) {
      made.rank = collective.last_rank;
      made.host = collective.last_host;
      if (const region* const where = find_where(in, collective.last_rank)) made.late_in = where->path;
    }
    if (error_ns > 0) made.error_ns = error_ns;
    made.count = collective.calls;
    made.value = part;
    made.against = min_part;
    made.next = next_step::even_out_ranks;
    all_findings.push_back(std::move(made));
  }
}

}  // namespace adaptyst::lib
