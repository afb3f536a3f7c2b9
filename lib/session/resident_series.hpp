// Resident memory of a process over time. The memory of the series is bounded: when it is full, every second point goes
// and the interval doubles, or becomes that of the remaining points. The points cover the whole observation evenly.
#ifndef ADAPTYST_LIB_SESSION_RESIDENT_SERIES_HPP
#define ADAPTYST_LIB_SESSION_RESIDENT_SERIES_HPP

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace adaptyst::lib {

class resident_series {
 public:
  static constexpr std::uint64_t first_interval_ns = 100'000'000;

  bool is_due(std::uint64_t after_ns) const noexcept {
    return points_.empty() || after_ns >= points_.back().after_ns + interval_ns_;
  }
  // Ignores a point before the interval is over.
  void add(std::uint64_t after_ns, std::uint64_t bytes) {
    if (!is_due(after_ns)) return;
    if (points_.size() == process_info::max_resident) halve();
    if (is_due(after_ns)) points_.push_back({after_ns, bytes});
  }
  const std::vector<resident_point>& points() const noexcept { return points_; }

 private:
  void halve() {
    for (std::size_t at = 0; at != points_.size() / 2; ++at) points_[at] = points_[2 * at];
    points_.resize(points_.size() / 2);
    // Reads may be rarer than the interval.
    interval_ns_ = std::max(2 * interval_ns_, (points_.back().after_ns - points_.front().after_ns) / points_.size());
  }

  std::vector<resident_point> points_;
  std::uint64_t interval_ns_ = first_interval_ns;
};

}  // namespace adaptyst::lib

#endif
