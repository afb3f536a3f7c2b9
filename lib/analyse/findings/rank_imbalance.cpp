// Finds regions in which ranks take different times and no single rank or node is the reason.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "detectors.hpp"
#include "run.hpp"
#include "stragglers.hpp"

namespace adaptyst::lib {

namespace {

// POP's load balance, the mean over the longest: below this, ranks spend a fifth of the time waiting for the slowest.
constexpr double min_rank_balance = 1 - min_part;

bool has_stragglers(const profile& in, const region& row, const std::vector<std::string>& hosts) {
  if (!in.heat || in.heat->ranks_per_bin != 1) return false;
  for (const heat_row& times : in.heat->rows)
    if (times.region == row.id && times.device == row.device) return !find_stragglers(times.mean_ns, hosts).empty();
  return false;
}

// By chance, the greatest of n estimates exceeds their mean by sqrt(2 ln n) standard errors, and by two more in at most
// one of 20 cases.
double find_chance(const region& row) {
  const auto ranks = static_cast<double>(row.across_ranks->ranks);
  return (2 + std::sqrt(2 * std::log(ranks))) * find_rank_error(row);
}

}  // namespace

void find_rank_imbalance(const profile& in, findings& all_findings) {
  const std::vector<std::string> hosts = list_hosts(in);
  findings all;
  std::vector<bool> is_wait;
  for (const region& row : in.regions) {
    if (!row.across_ranks || row.across_ranks->ranks < 2) continue;
    const rank_totals& totals = row.across_ranks->total_ns;
    const double mean_ns = totals.mean().value_or(0), longest_ns = static_cast<double>(totals.max);
    const double lost_ns = static_cast<double>(row.across_ranks->ranks) * (longest_ns - mean_ns);
    if (longest_ns - mean_ns < find_chance(row)) continue;
    if (mean_ns > min_rank_balance * longest_ns || !is_significant(lost_ns, compute_duration(in)) ||
        has_stragglers(in, row, hosts))
      continue;
    finding made = found_in(in, row, finding_kind::rank_imbalance, lost_ns);
    made.rank = totals.max_rank;
    made.host = totals.max_host;
    made.count = row.across_ranks->ranks;
    if (row.total_variance) made.error_ns = static_cast<double>(row.across_ranks->ranks) * find_rank_error(row);
    made.unit = finding_unit::ns;
    made.value = longest_ns;
    made.against = mean_ns;
    made.next = next_step::even_out_ranks;
    all.push_back(std::move(made));
    is_wait.push_back(is_a_wait(row));
  }
  // A region around an unbalanced region is unbalanced too. Only the inner one is reported, unless it is a wait.
  for (std::size_t at = 0; at != all.size(); ++at)
    if (!is_wait[at] && std::none_of(all.begin(), all.end(), [&](const finding& inner) {
          return is_below(inner, all[at]) && 2 * inner.time_ns > all[at].time_ns;
        }))
      all_findings.push_back(all[at]);
}

}  // namespace adaptyst::lib
