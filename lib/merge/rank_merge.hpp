// Merges the profiles of an MPI program's ranks, from files or from the ranks' processes.
#ifndef ADAPTYST_LIB_MERGE_RANK_MERGE_HPP
#define ADAPTYST_LIB_MERGE_RANK_MERGE_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "details.hpp"
#include "message.hpp"
#include "tree.hpp"

namespace adaptyst::lib {

// adaptyst::merge_ranks() for a rank on this host.
merged_ranks merge_ranks(const profile& own, const std::string& host, rank_transport& over,
                         const collective_calls& collective = {}, std::size_t max_bytes = max_sent_bytes);

// The steps of merge_ranks(): the core gives a message at the first rank; the details follow the plan that the first
// rank has made from it. For callers with all ranks in one process, which process them one by one.
std::optional<std::string> reduce_core(const profile& own, const rank_place& place, rank_transport& over,
                                       absent_ranks& absent, std::size_t max_bytes = max_sent_bytes);
std::optional<rank_details> reduce_details(const profile& own, const rank_place& place, const details_plan& plan,
                                           rank_transport& over, absent_ranks& absent,
                                           std::size_t max_bytes = max_sent_bytes);

// Adds profiles one after the other, with at most two in memory. Ranks need a second read of each profile: `read`
// returns a profile by its number, or nothing.
class profile_sum {
 public:
  void add(const profile& more);
  std::size_t count() const noexcept { return count_; }
  profile result(const std::function<std::optional<profile>(std::size_t number)>& read) const;

 private:
  std::string all_;
  rank_details processes_{details_plan{}};
  std::size_t count_ = 0;
  bool has_merged_ = false;  // ranks from an earlier merge
  profile local_;            // stacks, which messages do not contain
};

}  // namespace adaptyst::lib

#endif
