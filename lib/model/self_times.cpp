#include <algorithm>
#include <unordered_map>

#include "measurements.hpp"

namespace adaptyst::lib {

namespace {

struct children {
  std::uint64_t total_ns = 0;  // of the children on the parent's thread
  bool functions = false;
  bool markers = false;
};

const measured_site* find_site(const measurements& in, std::uint64_t path) {
  const auto entry = in.paths.find(path);
  if (entry == in.paths.end()) return nullptr;
  const auto site = in.sites.find(entry->second.site);
  return site != in.sites.end() ? &site->second : nullptr;
}

}  // namespace

void settle_self_times(measurements& in) {
  std::unordered_map<std::uint64_t, children> below;
  for (const auto& [id, row] : in.rows) {
    const measured_site* const site = find_site(in, id);
    if (site == nullptr) continue;
    const bool is_function = site->kind == ADAPTYST_SITE_FUNCTION;
    if (!is_function && !is_scope(site->kind)) continue;
    children& of_parent = below[in.paths.at(id).parent];
    of_parent.total_ns += row.total_ns;
    (is_function ? of_parent.functions : of_parent.markers) = true;
  }
  for (auto& [id, row] : in.rows) {
    const auto found = below.find(id);
    const measured_site* const site = find_site(in, id);
    if (found == below.end() || site == nullptr) continue;
    const bool mixed = site->kind == ADAPTYST_SITE_FUNCTION ? found->second.markers : found->second.functions;
    if (mixed) row.self_ns = row.total_ns - std::min(row.total_ns, found->second.total_ns);
  }
}

}  // namespace adaptyst::lib
