// Prepares a profile of one rank for a merge with other ranks.
#ifndef ADAPTYST_LIB_MODEL_RANKS_HPP
#define ADAPTYST_LIB_MODEL_RANKS_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "measurements.hpp"

namespace adaptyst::lib {

// The counts and times of one rank in a call path.
struct rank_time {
  std::uint64_t events = 0, total_ns = 0;
  double total_variance = 0;  // if events were sampled
};

// The same for several ranks, from the kernel.
struct rank_times {
  std::map<std::uint32_t, std::unordered_map<std::uint64_t, rank_time>> by_rank;  // by rank, then by path
  path_set shared_paths;  // paths with a row that several ranks share
};

// The place of a profile of one rank; empty: no rank, or merged ranks.
std::optional<rank_place> find_place(const profile& profile);

// Describes a rank and a row of its profile.
rank_account describe_rank(const profile& profile, const rank_place& place);
// Whether ranks can differ in a row: not in an instant event, and not in numbers outside all regions.
bool has_time(const region& row);

// Converts a profile of one rank to a merged profile of a single rank.
void spread_over_ranks(profile& profile, const rank_place& place);

// The lowest rank, and ranks that are extremes of a row or named in the account.
std::set<std::uint32_t> list_notable_ranks(const profile& profile);

// If there are more than profile::max_processes, keeps only the notable ones.
void cut_processes(profile& profile);

}  // namespace adaptyst::lib

#endif
