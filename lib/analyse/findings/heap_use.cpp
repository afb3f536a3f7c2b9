#include <algorithm>
#include <cmath>

#include "../../model/heap_usage.hpp"
#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// The least time of an allocation with its free: glibc's with small blocks. Large blocks take much more.
constexpr double pair_ns = 20;
// This many allocations take a tenth of a thread's time.
constexpr double min_allocations_per_s = 0.1 * 1e9 / pair_ns;  // not reached if each is counted, which takes longer
constexpr double min_freed_part = 0.9;

// An estimate with an error of more than a third is no basis.
bool is_certain(double value, const std::optional<double>& variance) {
  return value * value > 9 * variance.value_or(0);
}

// The live bytes that regions keep are at least this part of the high-water mark, and this many bytes.
constexpr double min_live_part = 0.1;
constexpr double min_live_bytes = 1 << 20;
constexpr double min_calls = 16;  // of a thread
// Equal growth in all calls: the mean call of the live bytes is the middle one. For ten blocks at random, the mean is
// within this distance in 97 of 100 cases.
constexpr double max_from_middle = 0.2;

}  // namespace

void find_heap_churn(const profile& in, findings& all_findings) {
  for (const region& row : in.regions) {
    if (!row.heap || row.durations.count() == 0 || row.self_ns == 0) continue;
    const auto allocations = static_cast<double>(row.heap->allocations);
    const auto frees = static_cast<double>(row.heap->frees.value_or(0));
    const double a_second = allocations * 1e9 / static_cast<double>(row.self_ns);
    const double time_ns = allocations * pair_ns;
    if (frees < min_freed_part * allocations || a_second < min_allocations_per_s ||
        !is_certain(allocations, row.heap->allocations_variance) || !is_significant(time_ns, compute_duration(in)))
      continue;
    finding made = found_in(in, row, finding_kind::heap_churn, time_ns);
    made.count = row.heap->allocations;
    made.unit = finding_unit::per_second;
    made.value = a_second;
    made.against = min_allocations_per_s;
    made.next = next_step::reuse_memory;
    all_findings.push_back(std::move(made));
  }
}

void find_heap_growth(const profile& in, findings& all_findings) {
  const std::optional<heap_totals> totals = add_up_heap(in);
  if (!totals || !totals->sums.high_water_bytes) return;
  const auto mark = static_cast<double>(*totals->sums.high_water_bytes);
  for (const region& row : in.regions) {
    if (!row.heap || row.timed_events || row.count == 0) continue;
    const heap_usage& heap = *row.heap;
    const auto live = static_cast<double>(heap.live_bytes);
    const double calls = static_cast<double>(row.count) / std::max<double>(1, row.threads);
    if (calls < min_calls || heap.live_blocks < min_events || live < std::max(min_live_bytes, min_live_part * mark))
      continue;
    if (!is_certain(live, heap.live_variance) || std::abs(heap.live_byte_calls / live / calls - 0.5) > max_from_middle)
      continue;
    finding made = found_in(in, row, finding_kind::heap_growth, 0);
    made.share = live / mark;
    made.count = heap.live_blocks;
    made.unit = finding_unit::bytes;
    made.value = live / static_cast<double>(row.count);
    made.against = std::max(min_live_bytes, min_live_part * mark) / static_cast<double>(row.count);
    made.next = next_step::free_memory;
    all_findings.push_back(std::move(made));
  }
}

}  // namespace adaptyst::lib
