#include "rank_spreads.hpp"

#include <map>
#include <vector>

#include "../profile/ranks.hpp"

namespace adaptyst::lib {

namespace {

// A launcher may start a shell that starts the program: both have the rank.
using processes_by_rank = std::map<std::uint32_t, std::vector<const target*>>;

struct time_in_row {
  std::uint64_t events = 0, total_ns = 0;
};

time_in_row find_time(const std::vector<const target*>& processes, std::uint64_t path) {
  time_in_row made;
  for (const target* const one : processes) {
    const auto row = one->recorded().rows.find(path);
    if (row == one->recorded().rows.end()) continue;
    made.events += row->second.durations.count();
    made.total_ns += row->second.total_ns;
  }
  return made;
}

void describe(profile& to, const rank_place& place, const std::vector<const target*>& processes) {
  profile own;
  for (const target* const one : processes) {
    own.processes.push_back(one->info());
    for (const auto& [path, row] : one->recorded().rows)
      if (row.count != 0) own.regions.emplace_back().count = row.count;
  }
  ++*to.ranks;
  to.about_ranks->merge(describe_rank(own, place));
}

}  // namespace

void add_rank_spreads(profile& to, const target_list& targets) {
  processes_by_rank ranks;
  for (const auto& one : targets)
    if (const process_info info = one->info(); info.rank) ranks[*info.rank].push_back(one.get());
  if (ranks.size() < 2) return;
  to.ranks = 0;
  to.about_ranks.emplace();
  for (const auto& [rank, processes] : ranks) {
    const rank_place place{rank, processes.front()->info().host};
    describe(to, place, processes);
    for (region& row : to.regions) {
      const time_in_row time = find_time(processes, row.id);
      if (!has_time(row) || time.events == 0) continue;
      rank_spread& spread = row.across_ranks ? *row.across_ranks : row.across_ranks.emplace();
      ++spread.ranks;
      spread.total_ns.add(time.total_ns, rank, place.host);
    }
  }
}

}  // namespace adaptyst::lib
