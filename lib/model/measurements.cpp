// Adds rows of several recorders, and computes the overhead of recording them.
#include "measurements.hpp"

#include <adaptyst/detail/event_sampling.hpp>
#include <algorithm>

namespace adaptyst::lib {

region_kind to_region_kind(std::uint32_t kind) {
  switch (kind) {
    case ADAPTYST_SITE_OFFLOAD: return region_kind::offload;
    case ADAPTYST_SITE_METRIC:
    case ADAPTYST_SITE_HEAP: return region_kind::metric;
    case ADAPTYST_SITE_MARK: return region_kind::instant_event;
    case ADAPTYST_SITE_FUNCTION: return region_kind::function;
    case ADAPTYST_SITE_WAIT: return region_kind::wait;
    case ADAPTYST_SITE_KERNEL: return region_kind::kernel;
    case ADAPTYST_SITE_COPY_TO: return region_kind::copy_to;
    case ADAPTYST_SITE_COPY_FROM: return region_kind::copy_from;
    case ADAPTYST_SITE_FILL: return region_kind::fill;
    case ADAPTYST_SITE_OTHER: return region_kind::other;
    default: return region_kind::region;
  }
}

void add(measured_row& sum, const measured_row& from) {
  sum.count += from.count;
  sum.total_ns += from.total_ns;
  sum.self_ns += from.self_ns;
  sum.min_ns = std::min(sum.min_ns, from.min_ns);
  sum.max_ns = std::max(sum.max_ns, from.max_ns);
  sum.threads += from.threads;
  sum.durations.merge(from.durations);
  sum.left_out += from.left_out;
  sum.count_variance += from.count_variance;
  sum.total_variance += from.total_variance;
  sum.without_trap += from.without_trap;
  sum.excess_ns += from.excess_ns;
  for (const auto member : {&measured_row::context, &measured_row::self_context})
    if (from.*member) {
      if (!(sum.*member)) (sum.*member).emplace();
      (sum.*member)->merge(*(from.*member));
    }
  if (from.per_thread) {
    if (!sum.per_thread) sum.per_thread.emplace();
    sum.per_thread->merge(*from.per_thread);
  }
  if (sum.attributes.size() < from.attributes.size()) sum.attributes.resize(from.attributes.size());
  for (std::size_t at = 0; at != from.attributes.size(); ++at) sum.attributes[at].merge(from.attributes[at]);
}

void add(measurements& sum, const measurements& from) {
  sum.sites.insert(from.sites.begin(), from.sites.end());
  sum.paths.insert(from.paths.begin(), from.paths.end());
  for (const auto& [id, row] : from.rows) add(sum.rows[id], row);
  add(sum.accounting, from.accounting);
}

double event_costs::on(std::uint32_t step) const {
  if (step == ADAPTYST_STEP_ENGINE) return engine_ns;
  if (step == ADAPTYST_STEP_RECORDER) return recorder_ns;
  const double left_out = detail::takes_subtree(step) ? left_out_around_ns : left_out_ns;
  return left_out + sampled_ns / static_cast<double>(std::uint64_t{1} << detail::weight_log2(step));
}

void add_floor_error(profile& in, double error_ns) {
  for (region& row : in.regions) {
    if (!row.timed_events || !row.total_variance) continue;
    const double error = error_ns * static_cast<double>(row.count - std::min(row.count, *row.timed_events));
    *row.total_variance += error * error;
  }
}

namespace {

// The number of recorded events for the average N of "one of N", from the sums of N - 1 and of N (N - 1).
double count_samples(const measured_row& row) {
  const auto left_out = static_cast<double>(row.left_out);
  if (row.left_out == 0 || row.count_variance <= left_out) return 0;
  return std::min(left_out / (row.count_variance / left_out - 1), static_cast<double>(row.timed()));
}

// The cost of a row's events. `is_around_others`: for each recorded event, a second one was recorded only for the
// regions nested in it.
double estimate_cost(const measured_row& row, const event_costs& costs, bool is_around_others, bool is_left_out_along,
                     bool is_callback) {
  const double samples = count_samples(row);
  const double in_program = std::max(samples, static_cast<double>(row.without_trap));
  const double by_engine = static_cast<double>(row.timed()) - in_program;
  const double left_out_ns = is_around_others && !is_left_out_along ? costs.left_out_around_ns : costs.left_out_ns;
  return costs.engine_ns * by_engine + costs.recorder_ns * (in_program - samples) +
         costs.sampled_ns * samples * (is_around_others ? 2 : 1) + left_out_ns * static_cast<double>(row.left_out) +
         (is_callback ? costs.callback_ns * static_cast<double>(row.timed() + row.left_out) : 0);
}

}  // namespace

void set_overhead(profile& in, const measurements& from, const event_costs& costs) {
  path_set around_others;
  for (const auto& [id, row] : from.rows)
    if (const auto path = from.paths.find(id); path != from.paths.end()) around_others.insert(path->second.parent);
  const auto is_left_out = [&](std::uint64_t id) {
    const auto found = from.rows.find(id);
    return found != from.rows.end() && found->second.left_out != 0;
  };
  bool all_known = true;
  double saved_ns = 0;
  for (region& row : in.regions) {
    if (row.kind == region_kind::function) {
      all_known = false;
      continue;
    }
    const double unsampled_ns = costs.engine_ns * static_cast<double>(row.count);
    row.overhead_ns = unsampled_ns;
    const auto found = from.rows.find(row.id);
    if (found == from.rows.end() || row.count == 0) continue;
    const auto path = from.paths.find(row.id);
    const auto site = path != from.paths.end() ? from.sites.find(path->second.site) : from.sites.end();
    row.overhead_ns = estimate_cost(found->second, costs, around_others.count(row.id) != 0,
                                    path != from.paths.end() && is_left_out(path->second.parent),
                                    site != from.sites.end() && site->second.kind == ADAPTYST_SITE_CALLBACK);
    saved_ns += unsampled_ns - *row.overhead_ns;
  }
  if (all_known) in.accounting.overhead_ns = costs.engine_ns * static_cast<double>(in.accounting.ended) - saved_ns;
}

}  // namespace adaptyst::lib
