// With the ebpf engine, a path has a row in the kernel and one in the recorders. Times come from the kernel; payloads,
// metrics and thread counts come from the recorders. Ended events that the kernel neither counted nor lost are
// not_delivered.
#include "reconcile.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace adaptyst::lib {

namespace {

// Rows of the same path, except for functions around it, by the program's ids.
std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> kernel_ids(const measurements& kernel) {
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> ids;
  for (const auto& [id, row] : kernel.rows) {
    const auto path = kernel.paths.find(id);
    ids[path != kernel.paths.end() && path->second.marker != 0 ? path->second.marker : id].push_back(id);
  }
  return ids;
}

// `sum`: the program's account; `counted`: ended events in rows.
account reconcile(const account& kernel, account sum, std::uint64_t counted, std::uint64_t ended_before) {
  std::uint64_t lost_in_kernel = 0;
  for (const auto& [reason, count] : kernel.lost) {
    sum.lost[reason] += count;
    lost_in_kernel += count;
  }
  // Hits that the kernel never delivered are the difference of two independent counts.
  const std::uint64_t accounted = counted + lost_in_kernel;
  const std::uint64_t undelivered = ended_before > accounted ? ended_before - accounted : 0;
  if (undelivered != 0) sum.lost[loss_reason::not_delivered] += undelivered;
  const std::uint64_t since = sum.ended - std::min(sum.ended, accounted + undelivered);
  sum.open += since;
  sum.ended = counted;
  // Rows are read after the account and include events that ended in between. If a program was killed, or its recorders
  // belong to another process, the kernel has counted more than the recorders.
  sum.begun = sum.ended + sum.open;
  for (const auto& [reason, count] : sum.lost) sum.begun += count;
  sum.unnamed = kernel.unnamed;
  return sum;
}

}  // namespace

measurements reconcile(measurements kernel, measurements program, std::uint64_t ended_before) {
  std::uint64_t counted = 0;
  for (auto& [id, row] : kernel.rows) counted += row.count;
  const auto ids = kernel_ids(kernel);
  for (auto& [id, row] : program.rows) {
    const auto path = program.paths.find(id);
    const auto site = path != program.paths.end() ? program.sites.find(path->second.site) : program.sites.end();
    const auto same = ids.find(id);
    if (site != program.sites.end() && is_instant(site->second.kind)) {
      counted += row.count;
      kernel.rows[id] = std::move(row);
      if (const auto parent = ids.find(path->second.parent); parent != ids.end() && parent->second.size() == 1)
        path->second.parent = parent->second.front();
      continue;
    }
    // Events that the program recorded because of a budget: the histogram counts them, but no probe.
    measured_row own = std::move(row);
    own.count = own.durations.count();
    own.without_trap = own.timed();
    counted += own.count;
    if (own.count != 0 && (same == ids.end() || same->second.size() != 1)) {
      kernel.rows[id] = std::move(own);
    } else if (same != ids.end()) {
      // The kernel cannot add floating-point numbers, and does not know the program's threads.
      for (const std::uint64_t number : same->second) kernel.rows[number].threads = own.threads;
      if (same->second.size() != 1) continue;  // the path of these numbers is unknown
      measured_row& of_kernel = kernel.rows[same->second.front()];
      of_kernel.attributes = std::move(own.attributes);
      own.attributes.clear();
      own.threads = 0;
      add(of_kernel, own);
    }
  }
  kernel.paths.insert(program.paths.begin(), program.paths.end());
  kernel.sites.merge(program.sites);
  for (const auto& [id, site] : kernel.sites)
    if (site.attributes.empty())
      if (const auto same = program.sites.find(id); same != program.sites.end())
        kernel.sites[id].attributes = same->second.attributes;

  kernel.accounting = reconcile(kernel.accounting, std::move(program.accounting), counted, ended_before);
  return kernel;
}

}  // namespace adaptyst::lib
