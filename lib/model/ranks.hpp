// A profile of one rank as one that is to be merged with those of others.
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

#include "measured.hpp"

namespace adaptyst::lib {

// What one rank has done in a call path.
struct rank_time {
  std::uint64_t events = 0, total_ns = 0;
  double total_variance = 0;  // where an overhead budget has left events out
};

// The same of several, as the kernel has counted it.
struct rank_times {
  std::map<std::uint32_t, std::unordered_map<std::uint64_t, rank_time>> by_rank;  // then by path
  path_set mixed;                                                                 // paths where ranks have shared a row
};

// Of a profile of one rank; empty: it is of none, or ranks have been merged in it.
std::optional<rank_place> find_place(const profile& profile);

// What there is to say of a rank with that profile, and of a row of it.
rank_account describe_rank(const profile& profile, const rank_place& place);
// Whether ranks can differ in a row: not in an instant, nor in numbers outside all regions.
bool has_time(const region& row);

// Makes a profile of one rank one of several, of which there is one.
void spread_over_ranks(profile& profile, const rank_place& place);

// The lowest rank, and those that are extremes of a row or named in the account.
std::set<std::uint32_t> list_notable_ranks(const profile& profile);

// Leaves of more than profile::max_processes those that are notable.
void cut_processes(profile& profile);

}  // namespace adaptyst::lib

#endif
