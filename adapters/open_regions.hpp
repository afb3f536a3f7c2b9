// Regions of a thread that an interface begins and ends without a number to distinguish them. For adapters; one object
// for each thread. Also kept without an attached tool, so that a collector that starts later does not count their ends
// as unmatched.
#ifndef ADAPTYST_ADAPTERS_OPEN_REGIONS_HPP
#define ADAPTYST_ADAPTERS_OPEN_REGIONS_HPP

#include <adaptyst/adapter/callback_region.hpp>
#include <cstddef>

namespace adaptyst::adapters {

class open_regions {
 public:
  // A region that is nested too deep is counted as lost.
  void push(callback_region begun) noexcept {
    if (depth_ < max_depth) open_[depth_] = begun;
    else begun.abandon();
    ++depth_;
  }

  void pop() noexcept {
    if (depth_ == 0) return callback_region::count_unmatched_end();
    if (--depth_ < max_depth) open_[depth_].end();
  }

 private:
  static constexpr std::size_t max_depth = 256;
  callback_region open_[max_depth]{};
  std::size_t depth_ = 0;
};

}  // namespace adaptyst::adapters

#endif
