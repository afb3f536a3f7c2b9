#include <cmath>

#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// Of the region's own time, as much is known by thread: what the kernel adds up is not.
constexpr double known_part = 0.9;
// POP's load balance, the mean over the longest: below it, a fifth of the threads' time is waiting for the slowest.
constexpr double least_balance = 1 - least_part;

bool is_known(const region& row) {
  if (!row.per_thread || row.per_thread->count < 2 || row.per_thread->count != row.threads) return false;
  const auto sum_ns = static_cast<double>(row.per_thread->sum_ns), self_ns = static_cast<double>(row.self_ns);
  return std::abs(self_ns - sum_ns) <= (1 - known_part) * self_ns;
}

// Threads that wait for each other, or for files, differ in how long they did, not in what they have to do.
bool is_waiting(const region& row, double lost_ns) {
  const kernel_context* const own = own_context(row);
  return own != nullptr && 2 * static_cast<double>(own->blocked_ns()) > lost_ns;
}

}  // namespace

void find_thread_imbalance(const profile& in, findings& to) {
  const double run_ns = duration_of(in);
  for (const region& row : in.regions) {
    if (!is_known(row) || is_a_wait(row)) continue;
    const auto threads = static_cast<double>(row.per_thread->count);
    const auto longest_ns = static_cast<double>(row.per_thread->max_ns);
    const double mean_ns = static_cast<double>(row.per_thread->sum_ns) / threads;
    // What the others would wait for the slowest, if they meet in the end.
    const double lost_ns = threads * (longest_ns - mean_ns);
    if (mean_ns > least_balance * longest_ns || !is_worth_a_word(lost_ns, run_ns) || is_waiting(row, lost_ns)) continue;
    finding made = found_in(in, row, finding_kind::thread_imbalance, lost_ns);
    made.count = row.per_thread->count;
    if (row.total_error_ns()) made.error_ns = threads * *row.total_error_ns();
    made.unit = finding_unit::ns;
    made.value = longest_ns;
    made.against = mean_ns;
    made.next = next_step::even_out_work;
    to.push_back(std::move(made));
  }
}

}  // namespace adaptyst::lib
