// What several processes have recorded, added up.
#ifndef ADAPTYST_LIB_SESSION_PROCESS_SUMS_HPP
#define ADAPTYST_LIB_SESSION_PROCESS_SUMS_HPP

#include <memory>
#include <unordered_map>
#include <vector>

#include "target.hpp"

namespace adaptyst::lib {

// Kept, so that adding up again costs what has changed since.
class process_sums {
 public:
  // What they have read in the meantime. No process that was once among them may be missing.
  void update(const target_list& targets);
  const measured& result() const noexcept { return only_ != nullptr ? only_->recorded() : sum_; }
  // See recorder_reader.
  path_set take_changed() { return std::exchange(changed_, {}); }

 private:
  void name(std::uint64_t path, const measured& in);

  measured sum_;
  const target* only_ = nullptr;  // as long as there is no other one: then it is the sum
  std::unordered_map<std::uint64_t, std::vector<const target*>> holders_;  // of a path
  path_set changed_;
};

}  // namespace adaptyst::lib

#endif
