// Adds up the rows of several processes, and makes a profile from the rows that a source has read and the processes.
#ifndef ADAPTYST_LIB_SESSION_ASSEMBLY_HPP
#define ADAPTYST_LIB_SESSION_ASSEMBLY_HPP

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/ranks.hpp"
#include "../model/region_list.hpp"
#include "target.hpp"
#include "thread_context.hpp"

namespace adaptyst::lib {

// The sum of the rows of several processes. Keeps its sums, so that a further addition costs time only for rows that
// have changed.
class process_sums {
 public:
  // Adds what was read since the last call. `processes` must contain all earlier ones.
  void update(const process_list& processes);
  const measurements& result() const noexcept { return only_ != nullptr ? only_->recorded() : sum_; }
  // See recorder_reader.
  path_set take_changed() { return std::exchange(changed_, {}); }

 private:
  void name(std::uint64_t path, const measurements& in);

  measurements sum_;
  const recorded_process* only_ = nullptr;  // set while it is the only process: its rows are then the sum
  std::unordered_map<std::uint64_t, std::vector<const recorded_process*>> holders_;  // by path
  path_set changed_;
};

struct assembly_parts {
  const measurements& rows;
  std::optional<path_set> changed;  // since the last assembly; empty: any row may have changed
  const process_list& processes;
  const event_costs& costs;
  bool costs_are_known;               // true for all regions
  thread_context* context = nullptr;  // null: neither context nor samples are reported
  std::optional<context_sums> sums;   // the context, if it is reported
};

// Kept from one profile to the next, so that only changed regions cost time.
class assembly {
 public:
  using choice = std::function<bool(const region&)>;

  // Makes a profile of the `wanted` regions; of all regions if the context is reported.
  profile make(assembly_parts from, const choice& wanted);

 private:
  region_list regions_;
};

// Adds the differences between ranks that were observed together from outside. `of_kernel`: the kernel's counts for
// each rank, in addition to the recorders; null: unknown. Adds nothing for fewer than two ranks.
void set_rank_spreads(profile& profile, const process_list& all, const rank_times* of_kernel);

}  // namespace adaptyst::lib

#endif
