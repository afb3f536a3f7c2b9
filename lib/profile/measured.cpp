#include "measured.hpp"

#include <algorithm>

namespace adaptyst::lib {

region_kind kind_of_site(std::uint32_t kind) {
  switch (kind) {
    case ADAPTYST_SITE_OFFLOAD: return region_kind::offload;
    case ADAPTYST_SITE_METRIC: return region_kind::metric;
    case ADAPTYST_SITE_MARK: return region_kind::mark;
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

void add(measured_row& to, const measured_row& from) {
  to.count += from.count;
  to.total_ns += from.total_ns;
  to.self_ns += from.self_ns;
  to.min_ns = std::min(to.min_ns, from.min_ns);
  to.max_ns = std::max(to.max_ns, from.max_ns);
  to.threads += from.threads;
  to.durations.merge(from.durations);
  to.left_out += from.left_out;
  to.count_variance += from.count_variance;
  to.total_variance += from.total_variance;
  to.without_trap += from.without_trap;
  to.excess_ns += from.excess_ns;
  for (const auto member : {&measured_row::context, &measured_row::self_context})
    if (from.*member) {
      if (!(to.*member)) (to.*member).emplace();
      (to.*member)->merge(*(from.*member));
    }
  if (to.attributes.size() < from.attributes.size()) to.attributes.resize(from.attributes.size());
  for (std::size_t at = 0; at != from.attributes.size(); ++at) to.attributes[at].merge(from.attributes[at]);
}

void add(measured& to, const measured& from) {
  to.sites.insert(from.sites.begin(), from.sites.end());
  to.paths.insert(from.paths.begin(), from.paths.end());
  for (const auto& [id, row] : from.rows) add(to.rows[id], row);
  add(to.accounting, from.accounting);
}

double event_costs::on(std::uint32_t step) const {
  if (step == ADAPTYST_STEP_ENGINE) return engine_ns;
  if (step == ADAPTYST_STEP_RECORDER) return recorder_ns;
  return left_out_ns + recorder_ns / static_cast<double>(std::uint64_t{1} << (step - ADAPTYST_STEP_RECORDER));
}

void set_overhead(profile& in, const measured& from, const event_costs& costs) {
  bool all_known = true;
  double saved_ns = 0;
  for (region& row : in.regions) {
    if (row.kind == region_kind::function) {
      all_known = false;
      continue;
    }
    double cost_ns = costs.engine_ns * static_cast<double>(row.count);
    if (const auto found = from.rows.find(row.id); found != from.rows.end() && row.count != 0) {
      const double less_ns = (costs.engine_ns - costs.recorder_ns) * static_cast<double>(found->second.without_trap) +
                             (costs.engine_ns - costs.left_out_ns) * static_cast<double>(found->second.left_out);
      cost_ns -= less_ns;
      saved_ns += less_ns;
    }
    row.overhead_ns = cost_ns;
  }
  if (all_known) in.accounting.overhead_ns = costs.engine_ns * static_cast<double>(in.accounting.ended) - saved_ns;
}

}  // namespace adaptyst::lib
