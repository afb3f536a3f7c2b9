#include "measured.hpp"

#include <algorithm>

namespace adaptyst::lib {

std::string site_kind_name(std::uint32_t kind) {
  switch (kind) {
    case ADAPTYST_SITE_OFFLOAD: return "offload";
    case ADAPTYST_SITE_WAIT: return "wait";
    case ADAPTYST_SITE_MARK: return "mark";
    case ADAPTYST_SITE_FUNCTION: return "function";
    case ADAPTYST_SITE_KERNEL: return "kernel";
    case ADAPTYST_SITE_COPY_TO: return "copy_to";
    case ADAPTYST_SITE_COPY_FROM: return "copy_from";
    case ADAPTYST_SITE_FILL: return "fill";
    case ADAPTYST_SITE_OTHER: return "other";
    default: return "region";
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
  for (const auto member : {&measured_row::context, &measured_row::self_context})
    if (from.*member) {
      if (!(to.*member)) (to.*member).emplace();
      (to.*member)->merge(*(from.*member));
    }
  if (to.attributes.size() < from.attributes.size()) to.attributes.resize(from.attributes.size());
  for (std::size_t at = 0; at != from.attributes.size(); ++at) to.attributes[at].merge(from.attributes[at]);
}

void add(account& to, const account& from) {
  to.begun += from.begun;
  to.ended += from.ended;
  to.open += from.open;
  to.unmatched += from.unmatched;
  to.unnamed += from.unnamed;
  for (const auto& [why, count] : from.lost) to.lost[why] += count;
}

void add(measured& to, const measured& from) {
  to.sites.insert(from.sites.begin(), from.sites.end());
  to.paths.insert(from.paths.begin(), from.paths.end());
  for (const auto& [id, row] : from.rows) add(to.rows[id], row);
  add(to.accounting, from.accounting);
}

void set_overhead(profile& in, double region_cost_ns) {
  const std::string function = site_kind_name(ADAPTYST_SITE_FUNCTION);
  bool all_known = true;
  for (region& row : in.regions) {
    if (row.kind == function) all_known = false;
    else row.overhead_ns = region_cost_ns * static_cast<double>(row.count);
  }
  if (all_known) in.accounting.overhead_ns = region_cost_ns * static_cast<double>(in.accounting.ended);
}

}  // namespace adaptyst::lib
