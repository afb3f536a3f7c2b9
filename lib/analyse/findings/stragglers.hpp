// Ranks, or whole nodes, that take much longer in a region than the others.
//
// A rank is a straggler where it took longer than the median of the ranks by 7 + 100 / n times their spread, which is
// 1.4826 times the median distance from that, and by a fifth at least. Of n ranks that vary by chance, as a normal or a
// uniform distribution does, that names one in less than 0.1 % of all regions (tests/unit/stragglers.cpp). With fewer
// than 8 ranks the spread is not known well enough. A node is one where three quarters of its ranks are, two or more.
// Where more than a quarter of all ranks are, it is no straggler that the others wait for, but how the work is shared
// out.
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
  std::string host;                   // empty: not known
  std::size_t ranks = 1;
  double time_ns = 0;  // of a node, the mean of its ranks
  double median_ns = 0;
};

// Of a row's times by rank, of which some may have none. `hosts` of the ranks, or empty. The longest first.
std::vector<straggler> find_stragglers(const std::vector<std::optional<std::uint64_t>>& times,
                                       const std::vector<std::string>& hosts);

// Where each rank ran, by its number; empty texts: not known.
std::vector<std::string> list_hosts(const profile& profile);

}  // namespace adaptyst::lib

#endif
