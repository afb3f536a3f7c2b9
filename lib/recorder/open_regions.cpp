// Counts the open regions in the rows of all recorders.
#include "open_regions.hpp"

#include <adaptyst/detail/recorder_layout.hpp>
#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_set>
#include <vector>

#include "clock_line.hpp"
#include "recorder_list.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_open_rows = 1 << 17;  // in case the process's memory is damaged

struct open_place {
  std::uint64_t id, path, since;
};

}  // namespace

open_region_counts read_open_regions(const process_state& state) {
  open_region_counts open;
  detail::store_head store{};
  if (!read_store(state, store)) return open;
  for_each_row(state, store, [&](std::uint64_t, const detail::row& row) {
    if (row.open_since != 0 && (open.size() < max_open_rows || open.count(row.id) != 0)) ++open[row.id];
  });
  return open;
}

std::vector<last_open_region> read_last_regions(const process_state& state) {
  std::map<std::uint64_t, last_open_region> last;
  detail::store_head store{};
  if (!read_store(state, store)) return {};
  const detail::clock_line line = in_our_clock(store.clock, state.clock_lead_ns, read_clock_pair());
  const auto to_our_clock = [&](std::uint64_t timestamp) {
    return line.ns_per_tick != 0 ? detail::to_monotonic_ns(line, timestamp)
                                 : from_process_clock(timestamp, state.clock_lead_ns);
  };
  std::map<std::uint64_t, std::vector<open_place>> by_recorder;
  std::size_t count = 0;
  for_each_row(state, store, [&](std::uint64_t recorder, const detail::row& row) {
    if (row.open_since != 0 && ++count <= max_open_rows)
      by_recorder[recorder].push_back({row.id, as_address(row.path), row.open_since});
  });
  for (const auto& [recorder, open] : by_recorder) {
    std::unordered_set<std::uint64_t> parents;
    for (const open_place& row : open) {
      adaptyst_path path{};
      if (row.path != 0 && state.in->read(row.path, path)) parents.insert(as_address(path.parent));
    }
    for (const open_place& row : open) {
      if (parents.count(row.path) != 0) continue;
      const std::uint64_t since_ns = to_our_clock(row.since);
      last_open_region& entry = last.try_emplace(row.id, last_open_region{row.id, 0, since_ns}).first->second;
      ++entry.threads;
      entry.since_ns = std::min(entry.since_ns, since_ns);
    }
  }
  std::vector<last_open_region> all;
  all.reserve(last.size());
  for (const auto& [path, row] : last) all.push_back(row);
  return all;
}

}  // namespace adaptyst::lib
