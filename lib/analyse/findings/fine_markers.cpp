// Finds expensive markers: regions as short as a timestamp, regions with a large share of overhead, and missed budgets.
#include <algorithm>

#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// A region with less than this share of a missed budget is not the reason.
constexpr double budget_part = 1.0 / 8;
// Without a budget, overhead has no limit; above this share, the figures no longer describe the program.
constexpr double max_without_budget = 0.05;

finding too_fine(const profile& in, const region& row, double time_ns, std::uint64_t count, double value,
                 double against) {
  finding made = found_in(in, row, finding_kind::fine_markers, time_ns);
  made.count = count;
  made.value = value;
  made.against = against;
  made.next = next_step::mark_larger_regions;
  return made;
}

// One finding for all regions; its place is the region with most overhead.
void find_exceeded_budget(const profile& in, findings& all_findings) {
  if (compute_duration(in) <= 0) return;
  const budget_usage& budget = *in.budget;
  region none;  // the place if many regions cost little each
  none.overhead_ns = budget_part * budget.allowed_ns;
  const region* dearest = &none;
  for (const region& row : in.regions)
    if (row.overhead_ns > dearest->overhead_ns) dearest = &row;
  all_findings.push_back(too_fine(in, *dearest, budget.cost_ns, in.accounting.ended, budget.cost_ns / budget.cpu_ns,
                                  budget.allowed_ns / budget.cpu_ns));
  const double in_kernel_ns =
      (in.context ? in.context->cost_ns.value_or(0) : 0) + (in.samples ? in.samples->cost_ns.value_or(0) : 0);
  if (in_kernel_ns > budget.cost_ns / 2) all_findings.back().next = next_step::reduce_kernel_data;
}

// Recorded events of a sampled marker are already shortened by the time of an empty region.
void find_empty_regions(const profile& in, const region& row, findings& all_findings) {
  const auto count = static_cast<double>(row.count), total_ns = static_cast<double>(row.total_ns);
  const double floor_ns = in.timer_floor_ns.value_or(0);
  const double measuring_ns = std::min(total_ns, floor_ns * count);
  if (row.timed_events || measuring_ns < min_part * total_ns || total_ns <= 0 ||
      !is_significant(measuring_ns, compute_duration(in)))
    return;
  all_findings.push_back(too_fine(in, row, measuring_ns, row.count, total_ns / count, floor_ns));
  all_findings.back().unit = finding_unit::ns;
}

// Finds regions with a large share of overhead, if their overhead is a large share of the run. The finding has the
// total overhead; its place is the region with the highest overhead.
void find_expensive_regions(const profile& in, findings& all_findings) {
  const double run_ns = compute_duration(in);
  const region* dearest = nullptr;
  double cost_ns = 0, in_fine_ns = 0;
  std::uint64_t events = 0;
  for (const region& row : in.regions) {
    if (!row.overhead_ns || *row.overhead_ns <= 0) continue;
    cost_ns += *row.overhead_ns;
    events += row.count;
    if (*row.overhead_ns >= min_part * static_cast<double>(row.total_ns)) in_fine_ns += *row.overhead_ns;
    if (dearest == nullptr || row.overhead_ns > dearest->overhead_ns) dearest = &row;
  }
  if (dearest == nullptr || !is_significant(in_fine_ns, run_ns) || in_fine_ns < max_without_budget * run_ns) return;
  all_findings.push_back(too_fine(in, *dearest, cost_ns, events, cost_ns / run_ns, max_without_budget));
}

}  // namespace

void find_fine_markers(const profile& in, findings& all_findings) {
  if (in.budget && in.budget->is_exceeded() && in.budget->cpu_ns > 0) return find_exceeded_budget(in, all_findings);
  if (!in.budget) find_expensive_regions(in, all_findings);
  for (const region& row : in.regions)
    if (row.count != 0 && row.durations.count() != 0 && row.kind != region_kind::function)
      find_empty_regions(in, row, all_findings);
}

}  // namespace adaptyst::lib
