#include "unmarked.hpp"

namespace adaptyst::lib {

std::uint64_t compute_wall_ns(const profile& profile) {
  std::uint64_t sum = profile.unlisted ? profile.unlisted->duration_ns : 0;
  for (const process_info& process : profile.processes) sum += process.duration_ns;
  return sum;
}

bool is_host_time(region_kind kind) {
  return kind == region_kind::region || kind == region_kind::offload || kind == region_kind::wait ||
         kind == region_kind::function;
}

unmarked_time compute_unmarked(const profile& profile) {
  const std::uint64_t wall_ns = compute_wall_ns(profile);
  if (wall_ns == 0) return {unmarked_state::no_time, 0};
  if (profile.unlisted) return {unmarked_state::unknown_threads, 0};
  for (const process_info& process : profile.processes) {
    if (!process.threads) return {unmarked_state::unknown_threads, 0};
    if (*process.threads > 1) return {unmarked_state::several_threads, 0};
  }
  std::uint64_t marked_ns = 0;
  bool is_estimate = false;
  for (const region& row : profile.regions) {
    if (row.path.size() != 1 || !is_host_time(row.kind) || row.durations.count() == 0) continue;
    if (row.threads == 0) return {unmarked_state::unknown_threads, 0};  // functions from the kernel's counts
    marked_ns += row.total_ns;
    is_estimate = is_estimate || row.timed_events;
  }
  if (profile.accounting.open != 0) return {unmarked_state::open_regions, 0};
  if (!profile.accounting.lost.empty()) return {unmarked_state::lost_events, 0};
  if (marked_ns > wall_ns) return {is_estimate ? unmarked_state::estimated : unmarked_state::overlapping, 0};
  return {unmarked_state::known, wall_ns - marked_ns, is_estimate};
}

}  // namespace adaptyst::lib
