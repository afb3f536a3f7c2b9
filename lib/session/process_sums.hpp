// What several processes have recorded, added up.
#ifndef ADAPTYST_LIB_SESSION_PROCESS_SUMS_HPP
#define ADAPTYST_LIB_SESSION_PROCESS_SUMS_HPP

#include <memory>
#include <unordered_map>
#include <vector>

#include "target.hpp"

namespace adaptyst::lib {

// Keeps its sums, so that adding up again only costs time for what has changed.
class process_sums {
 public:
  // Adds what was read since the last call. `processes` must contain all earlier ones.
  void update(const process_list& processes);
  const measured& result() const noexcept { return only_ != nullptr ? only_->recorded() : sum_; }
  // See recorder_reader.
  path_set take_changed() { return std::exchange(changed_, {}); }

 private:
  void name(std::uint64_t path, const measured& in);

  measured sum_;
  const recorded_process* only_ = nullptr;  // while there is no other: then its rows are the sum
  std::unordered_map<std::uint64_t, std::vector<const recorded_process*>> holders_;  // of a path
  path_set changed_;
};

}  // namespace adaptyst::lib

#endif
