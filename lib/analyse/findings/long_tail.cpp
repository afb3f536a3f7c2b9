// Finds regions in which a few events take most of the time. Waits known from the kernel are left to the findings of
// waits. An outer region is skipped if a nested one has the same tail.
#include <adaptyst/detail/histogram.h>

#include <algorithm>
#include <cmath>

#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// Ordinary scatter rarely exceeds this many times the median: of exponentially distributed durations, 0.4 % are longer,
// with 2.5 % of all time.
constexpr double times_the_median = 8;
// Any interrupt or cache miss makes a shorter event this much longer.
constexpr double min_median_ns = 1000;
// If more events are slow, the region has two kinds of work, not a tail.
constexpr double max_event_share = 0.1;

struct tail {
  double events = 0;
  double beyond_ns = 0;  // the excess over the median
};

tail measure_tail(const region& row, double median_ns) {
  tail made;
  const std::vector<std::uint64_t>& buckets = row.durations.buckets();
  for (unsigned bucket = 0; bucket != buckets.size(); ++bucket) {
    const auto value_ns = static_cast<double>(adaptyst_histogram_lower(bucket));
    if (buckets[bucket] == 0 || value_ns < times_the_median * median_ns) continue;
    made.events += static_cast<double>(buckets[bucket]);
    made.beyond_ns += static_cast<double>(buckets[bucket]) * (value_ns - median_ns);
  }
  return made;
}

// If most of the excess was off the cores, findings of waits explain it.
bool is_explained(const region& row, double beyond_ns) {
  if (!row.context) return false;
  return 2 * static_cast<double>(row.context->runnable_ns + row.context->blocked_ns()) > beyond_ns;
}

}  // namespace

void find_long_tails(const profile& in, findings& all_findings) {
  const double run_ns = compute_duration(in);
  findings all;
  for (const region& row : in.regions) {
    const std::uint64_t events = row.durations.count();
    if (events == 0 || row.count == 0 || row.kind == region_kind::wait) continue;
    const auto median_ns = static_cast<double>(row.quantile_ns(0.5).value_or(0));
    const tail slow_tail = measure_tail(row, median_ns);
    // A recorded event of a region with sampled events represents several.
    const double seen =
        slow_tail.events *
        (row.timed_events ? static_cast<double>(*row.timed_events) / static_cast<double>(row.count) : 1);
    if (median_ns < min_median_ns || seen < static_cast<double>(min_events) ||
        slow_tail.events > max_event_share * static_cast<double>(events) ||
        !is_significant(slow_tail.beyond_ns, run_ns) || is_explained(row, slow_tail.beyond_ns))
      continue;
    finding made = found_in(in, row, finding_kind::long_tail, slow_tail.beyond_ns);
    made.error_ns = slow_tail.beyond_ns / std::sqrt(seen);
    made.count = static_cast<std::uint64_t>(seen);
    made.unit = finding_unit::ns;
    made.value = median_ns + slow_tail.beyond_ns / slow_tail.events;
    made.against = median_ns;
    made.next = next_step::inspect_slow_events;
    all.push_back(std::move(made));
  }
  // An outer region is slow because a nested one is: only the nested one is reported.
  for (const finding& outer : all)
    if (std::none_of(all.begin(), all.end(),
                     [&](const finding& inner) { return is_below(inner, outer) && 2 * inner.time_ns > outer.time_ns; }))
      all_findings.push_back(outer);
}

}  // namespace adaptyst::lib
