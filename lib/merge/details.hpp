// The second reduction, after the largest rows and the extreme ranks are known: processes, times of the largest rows by
// rank, machines, and full histograms, which are short in the first messages.
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
    std::uint64_t key = 0;      // a hash of path, id and device
    std::uint64_t unit_ns = 1;  // the unit of the kept times
  };
  std::uint64_t ranks_per_bin = 1;
  std::vector<row> rows;
  bool has_histograms = false;  // whether the histograms of the rows are included
  // False: only the processes of these ranks.
  bool has_all_processes = true;
  bool has_whole_processes = true;  // with arguments and threads
  std::vector<std::uint32_t> ranks;

  std::string message() const;
};
details_plan read_plan(std::string_view message);

// `merged`: the result of read_message(); `limits`: of the messages.
details_plan make_plan(const profile& merged, message_limits limits);

// Details of some ranks, independent of the order of adding.
class rank_details {
 public:
  explicit rank_details(details_plan plan);

  // `place`: the rank of the profile; empty: none or several.
  void add(const profile& profile, const std::optional<rank_place>& place);
  // Adds other ranks with the same plan. Throws adaptyst::error if it is not such a message.
  void add(std::string_view message);
  std::string message() const;
  std::size_t count_processes() const noexcept { return processes_.size(); }

  // `merged`: the profile that the plan was made from.
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
  std::map<std::string, node_time> nodes_;  // the time outside MPI of ranks that call MPI
  bool has_too_many_nodes_ = false;         // then the map is empty
};

}  // namespace adaptyst::lib

#endif
