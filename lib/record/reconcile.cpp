#include "reconcile.hpp"

#include <algorithm>
#include <utility>

namespace adaptyst::lib {

measured reconcile(measured kernel, measured program, std::uint64_t ended_before) {
  std::uint64_t counted = 0;
  for (auto& [id, row] : kernel.rows) counted += row.count;
  for (auto& [id, row] : program.rows) {
    const auto path = program.paths.find(id);
    const auto site = path != program.paths.end() ? program.sites.find(path->second.site) : program.sites.end();
    if (site != program.sites.end() && is_instant(site->second.kind)) {
      counted += row.count;
      kernel.rows[id] = std::move(row);
    } else if (const auto same = kernel.rows.find(id); same != kernel.rows.end()) {
      // The kernel cannot add floating-point numbers, and does not know who our threads are.
      same->second.threads = row.threads;
      same->second.attributes = std::move(row.attributes);
      for (attribute& one : same->second.attributes) one.count = same->second.count;
    }
  }
  kernel.paths.insert(program.paths.begin(), program.paths.end());
  kernel.sites.merge(program.sites);
  for (const auto& [id, site] : kernel.sites)
    if (site.attributes.empty())
      if (const auto same = program.sites.find(id); same != program.sites.end())
        kernel.sites[id].attributes = same->second.attributes;

  account& sum = program.accounting;
  std::uint64_t lost_in_kernel = 0;
  for (const auto& [reason, count] : kernel.accounting.lost) {
    sum.lost[reason] += count;
    lost_in_kernel += count;
  }
  // Hits that the kernel never delivered show as the difference of two independent counts.
  const std::uint64_t accounted = counted + lost_in_kernel;
  const std::uint64_t undelivered = ended_before > accounted ? ended_before - accounted : 0;
  if (undelivered != 0) sum.lost["not_delivered"] += undelivered;
  const std::uint64_t since = sum.ended - std::min(sum.ended, accounted + undelivered);
  sum.open += since;
  sum.ended = counted;
  sum.unnamed = kernel.accounting.unnamed;
  kernel.accounting = sum;
  return kernel;
}

}  // namespace adaptyst::lib
