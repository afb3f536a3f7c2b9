// Ranks or whole nodes that take much longer in a region than the others.
//
// A rank is a straggler if its time exceeds the median of the ranks by 7 + 100 / n times their spread, and by at least
// a fifth. The spread is 1.4826 times the median distance from the median. For n ranks with normally or uniformly
// distributed times, this reports a rank in less than 0.1 % of all regions (tests/unit/stragglers.cpp). With fewer than
// 8 ranks, the spread is too uncertain. A node is a straggler if three quarters of its ranks are, and at least two. If
// more than a quarter of all ranks are slow, the cause is the distribution of work, not a straggler.
#ifndef ADAPTYST_LIB_ANALYSE_FINDINGS_STRAGGLERS_HPP
#define ADAPTYST_LIB_ANALYSE_FINDINGS_STRAGGLERS_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst::lib {

constexpr std::size_t min_ranks = 8;

struct straggler {
  std::optional<std::uint32_t> rank;  // empty: a node
  std::string host;                   // empty: unknown
  std::size_t ranks = 1;
  double time_ns = 0;  // for a node, the mean of its slow ranks
  double median_ns = 0;
};

// `times`: a row's times by rank; a rank may have none. `hosts`: by rank, or empty. Sorted by time, longest first.
std::vector<straggler> find_stragglers(const std::vector<std::optional<std::uint64_t>>& times,
                                       const std::vector<std::string>& hosts);

// The host of each rank, by rank number; an empty text is unknown.
std::vector<std::string> list_hosts(const profile& profile);

}  // namespace adaptyst::lib

#endif
