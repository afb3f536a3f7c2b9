#include "clock_track.hpp"

#include <algorithm>

namespace adaptyst::lib {

void clock_track::start(const detail::clock_line& line) {
  if (ns_per_tick_ != 0 || line.ns_per_tick == 0) return;
  ns_per_tick_ = line.ns_per_tick;
  points_.push_back({line.base_ticks, line.base_ns});
}

void clock_track::add(clock_pair point) {
  if (points_.empty() || point.ticks <= points_.back().ticks || point.ns < points_.back().ns) return;
  if (points_.size() == max_points) {
    for (std::size_t at = 1; at != max_points / 2; ++at) points_[at] = points_[2 * at];
    points_.resize(max_points / 2);
  }
  points_.push_back(point);
}

std::uint64_t clock_track::monotonic_ns(std::uint64_t timestamp) const noexcept {
  if (points_.empty()) return timestamp;
  const clock_pair& last = points_.back();
  if (timestamp >= last.ticks) return last.ns + detail::in_ns(ns_per_tick_, timestamp - last.ticks);
  const clock_pair& first = points_.front();
  if (timestamp < first.ticks)
    return first.ns - std::min(first.ns, detail::in_ns(ns_per_tick_, first.ticks - timestamp));
  // Most timestamps are from the last few milliseconds.
  auto next = points_.end() - 1;
  if (timestamp < (next - 1)->ticks)
    next = std::upper_bound(points_.begin(), next, timestamp,
                            [](std::uint64_t at, const clock_pair& point) { return at < point.ticks; });
  const clock_pair& before = *(next - 1);
  const std::uint64_t since = timestamp - before.ticks;
  const std::uint64_t ticks = next->ticks - before.ticks;
  const std::uint64_t ns = next->ns - before.ns;
  if (((since | ns) >> 32) == 0) return before.ns + since * ns / ticks;
  return before.ns + static_cast<std::uint64_t>(static_cast<detail::wide>(since) * ns / ticks);
}

}  // namespace adaptyst::lib
