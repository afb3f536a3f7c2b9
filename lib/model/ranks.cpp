// Prepares the profile of one rank for merging: each row gets its spread over ranks, and the list of processes is
// reduced to the notable ones.
#include "ranks.hpp"

#include <algorithm>

namespace adaptyst::lib {

std::optional<rank_place> find_place(const profile& profile) {
  const std::optional<std::uint32_t> rank = profile.rank();
  if (!rank || profile.ranks) return std::nullopt;
  return rank_place{*rank, profile.processes.front().host};
}

rank_account describe_rank(const profile& profile, const rank_place& place) {
  rank_account made;
  made.end = std::uint64_t{place.rank} + 1;
  made.hosts = {place.host};
  if (!profile.processes.empty()) {
    made.programs.push_back({profile.processes.front().command, {}});
    made.programs.front().ranks.add(place.rank, place.host);
  }
  const auto& rows = profile.regions;
  if (std::none_of(rows.begin(), rows.end(), [](const region& row) { return row.count != 0; }))
    made.without_regions.add(place.rank, place.host);
  const auto& processes = profile.processes;
  if (std::any_of(processes.begin(), processes.end(), [](const process_info& process) { return process.killed; }))
    made.killed.add(place.rank, place.host);
  return made;
}

bool has_time(const region& row) { return row.durations.count() != 0; }

void spread_over_ranks(profile& profile, const rank_place& place) {
  profile.ranks = 1;
  profile.about_ranks = describe_rank(profile, place);
  for (region& row : profile.regions) {
    if (!has_time(row)) continue;
    rank_spread& spread = row.across_ranks.emplace();
    spread.ranks = 1;
    spread.total_ns.add(row.total_ns, place.rank, place.host);
  }
}

std::set<std::uint32_t> list_notable_ranks(const profile& profile) {
  std::set<std::uint32_t> all;
  for (const region& row : profile.regions)
    if (row.across_ranks) all.insert({row.across_ranks->total_ns.min_rank, row.across_ranks->total_ns.max_rank});
  if (profile.about_ranks) {
    for (const rank_list* const list : {&profile.about_ranks->without_regions, &profile.about_ranks->killed})
      for (const rank_place& place : list->first) all.insert(place.rank);
    for (const program_ranks& program : profile.about_ranks->programs)
      for (const rank_place& place : program.ranks.first) all.insert(place.rank);
  }
  return all;
}

void cut_processes(profile& profile) {
  if (!profile.ranks || profile.processes.size() <= profile::max_processes) return;
  const std::set<std::uint32_t> notable = list_notable_ranks(profile);
  unlisted_processes& rest = profile.unlisted ? *profile.unlisted : profile.unlisted.emplace();
  const auto is_cut = [&](const process_info& process) {
    if (process.rank && notable.count(*process.rank) != 0) return false;
    ++rest.processes;
    rest.duration_ns += process.duration_ns;
    return true;
  };
  profile.processes.erase(std::remove_if(profile.processes.begin(), profile.processes.end(), is_cut),
                          profile.processes.end());
}

}  // namespace adaptyst::lib
