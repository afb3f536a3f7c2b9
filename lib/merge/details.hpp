// What is reduced once it is known which rows are the largest and which ranks are extremes: the processes, the time of
// the largest rows by rank, machines, and histograms in full where the first messages had short ones.
#ifndef ADAPTYST_LIB_MERGE_DETAILS_HPP
#define ADAPTYST_LIB_MERGE_DETAILS_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message.hpp"
#include "sparse_histogram.hpp"

namespace adaptyst::lib {

// The same for all ranks.
struct details_plan {
  struct row {
    std::uint64_t key = 0;      // a hash of its path, id and device
    std::uint64_t unit_ns = 1;  // in which times are kept
  };
  std::uint64_t ranks_per_bin = 1;
  std::vector<row> rows;
  bool has_histograms = false;  // whether those of the rows are asked for
  // Otherwise those of these ranks.
  bool has_all_processes = true;
  bool has_whole_processes = true;  // with their arguments and threads
  std::vector<std::uint32_t> ranks;

  std::string message() const;
};
details_plan read_plan(std::string_view message);

// Of what read_message() has made; `limits`: those of the messages.
details_plan make_plan(const profile& merged, message_limits limits);

// What there is of some ranks. It is the same whatever the order in which they were added.
class rank_details {
 public:
  explicit rank_details(details_plan plan);

  // `place`: the rank whose profile it is; empty: of none, or of several.
  void add(const profile& profile, const std::optional<rank_place>& place);
  // Of others, by the same plan. Throws adaptyst::error where it is no message.
  void add(std::string_view message);
  std::string message() const;
  std::size_t count_processes() const noexcept { return processes_.size(); }

  // To the profile from which the plan was made.
  void add_to(profile& merged) const;

 private:
  struct bin {
    std::uint64_t number = 0, ranks = 0;
    std::uint64_t min = 0, max = 0, sum = 0;
  };
  struct row_details {
    std::vector<bin> bins;
    sparse_histogram durations, ranks;
  };
  static void add(std::vector<bin>& bins, const std::vector<bin>& from);
  void add(const node_time& more);
  void add_busiest_node(profile& merged) const;
  void add(std::vector<process_info> more);

  details_plan plan_;
  std::vector<row_details> rows_;
  std::vector<process_info> processes_;
  std::vector<machine> machines_;
  std::map<std::string, node_time> nodes_;  // of the ranks that call MPI, their time outside it
  bool has_too_many_nodes_ = false;         // then there are none here
};

}  // namespace adaptyst::lib

#endif
