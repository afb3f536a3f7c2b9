// Finds threads that wait for the slowest thread, from the times of a region's threads and from OpenMP's teams.
#include <cmath>

#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// The threads' times must add up to at least this share of the region's own time, which the kernel sums over all
// threads.
constexpr double known_part = 0.9;
// POP's load balance, the mean over the longest: below this, threads spend a fifth of the time waiting for the slowest.
constexpr double min_thread_balance = 1 - min_part;

bool is_known(const region& row) {
  if (!row.per_thread || row.per_thread->count < 2 || row.per_thread->count != row.threads) return false;
  const auto sum_ns = static_cast<double>(row.per_thread->sum_ns), self_ns = static_cast<double>(row.self_ns);
  return std::abs(self_ns - sum_ns) <= (1 - known_part) * self_ns;
}

// Threads that wait for each other or for files differ in elapsed time, not in work.
bool is_waiting(const own_context* own, double lost_ns) {
  return own != nullptr && 2 * static_cast<double>(own->of.blocked_ns()) > lost_ns;
}

// With one thread per rank, the finding on ranks reports it and names the rank.
bool is_one_per_rank(const region& row) { return row.across_ranks && row.across_ranks->ranks >= row.threads; }

void find_in_threads(const profile& in, const region& row, const own_context* own, findings& all_findings) {
  if (!is_known(row) || is_a_wait(row) || is_one_per_rank(row)) return;
  const auto threads = static_cast<double>(row.per_thread->count);
  const auto longest_ns = static_cast<double>(row.per_thread->max_ns);
  const double mean_ns = static_cast<double>(row.per_thread->sum_ns) / threads;
  // The time that the other threads wait if all threads meet at the end.
  const double lost_ns = threads * (longest_ns - mean_ns);
  if (mean_ns > min_thread_balance * longest_ns || !is_significant(lost_ns, compute_duration(in)) ||
      is_waiting(own, lost_ns))
    return;
  finding made = found_in(in, row, finding_kind::thread_imbalance, lost_ns);
  made.count = row.per_thread->count;
  if (row.total_error_ns()) made.error_ns = threads * *row.total_error_ns();
  made.unit = finding_unit::ns;
  made.value = longest_ns;
  made.against = mean_ns;
  made.next = next_step::even_out_work;
  all_findings.push_back(std::move(made));
}

// A runtime with thread teams reports how long the threads waited for the last one (docs/openmp.md).
void find_in_teams(const profile& in, const region& row, findings& all_findings) {
  const auto lost = row.attributes.find("imbalance_ns"), threads = row.attributes.find("threads");
  if (lost == row.attributes.end() || threads == row.attributes.end() || lost->second.count < min_events) return;
  const double team_ns =
      static_cast<double>(row.total_ns) * threads->second.sum / static_cast<double>(threads->second.count);
  const double lost_ns = lost->second.sum, part = lost_ns / team_ns;
  if (!std::isfinite(part) || part < min_part || !is_significant(lost_ns, compute_duration(in))) return;
  finding made = found_in(in, row, finding_kind::thread_imbalance, lost_ns);
  made.count = lost->second.count;
  made.value = part;
  made.against = min_part;
  made.next = next_step::even_out_work;
  all_findings.push_back(std::move(made));
}

}  // namespace

void find_thread_imbalance(const profile& in, findings& all_findings) {
  const own_contexts contexts(in);
  for (const region& row : in.regions) {
    find_in_threads(in, row, contexts.find(row), all_findings);
    find_in_teams(in, row, all_findings);
  }
}

}  // namespace adaptyst::lib
