// Profiles of the ranks of an MPI program as one, wherever they are: in files, or each in its own process.
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

// adaptyst::merge_ranks(), of a rank on this host.
merged_ranks merge_ranks(const profile& own, const std::string& host, rank_transport& over,
                         const joint_calls& joint = {}, std::size_t max_bytes = max_sent_bytes);

// Its steps: the core, at the first rank a message; then the details, by the plan that the first rank has made of it.
// For those who have all ranks in one process, and go through them one by one.
std::optional<std::string> reduce_core(const profile& own, const rank_place& place, rank_transport& over,
                                       absent_ranks& absent, std::size_t max_bytes = max_sent_bytes);
std::optional<rank_details> reduce_details(const profile& own, const rank_place& place, const details_plan& plan,
                                           rank_transport& over, absent_ranks& absent,
                                           std::size_t max_bytes = max_sent_bytes);

// Profiles one after another, of which two at a time are in memory. Where they are of ranks, what takes a second look at
// each of them is asked for again: `read` gives a profile by its number, or nothing.
class profile_sum {
 public:
  void add(const profile& more);
  std::size_t count() const noexcept { return count_; }
  profile result(const std::function<std::optional<profile>(std::size_t number)>& read) const;

 private:
  std::string all_;
  rank_details processes_{details_plan{}};
  std::size_t count_ = 0;
  bool has_merged_ = false;  // ranks that had been merged before
  profile beside_;           // stacks, which messages do not have
};

}  // namespace adaptyst::lib

#endif
