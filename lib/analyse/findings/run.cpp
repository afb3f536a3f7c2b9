#include "run.hpp"

#include <algorithm>

#include "../../profile/mpi_usage.hpp"
#include "../../profile/unmarked.hpp"

namespace adaptyst::lib {

double compute_duration(const profile& profile) { return static_cast<double>(compute_wall_ns(profile)); }

bool is_significant(double time_ns, double whole_ns) {
  return whole_ns > 0 && time_ns >= min_time_ns && time_ns >= min_share * whole_ns;
}

finding found_in(const profile& profile, const region& row, finding_kind kind, double time_ns) {
  finding made;
  made.kind = kind;
  made.path = row.path;
  made.region = row.id;
  made.device = row.device;
  made.time_ns = time_ns;
  made.share = time_ns / compute_duration(profile);
  return made;
}

finding found_on(const profile& profile, std::uint32_t device, finding_kind kind, double time_ns) {
  finding made;
  made.kind = kind;
  made.device = device;
  made.time_ns = time_ns;
  made.share = time_ns / static_cast<double>(profile.devices[device].observed_ns);
  return made;
}

const kernel_context* own_context(const region& row) {
  const bool is_whole = row.self_context && row.self_context->wall_ns != 0 && row.self_context->on_cpu_ns();
  return is_whole ? &*row.self_context : nullptr;
}

bool is_below(const finding& inner, const finding& outer) {
  return inner.path.size() > outer.path.size() && std::equal(outer.path.begin(), outer.path.end(), inner.path.begin());
}

bool is_paging(const kernel_context& own) {
  const std::uint64_t faults = own.major_faults.value_or(0);
  return faults >= min_events && 2 * faults > own.voluntary_switches;
}

bool is_a_wait(const region& row) {
  return row.kind == region_kind::wait || row.kind == region_kind::offload || is_mpi_call(row);
}

}  // namespace adaptyst::lib
