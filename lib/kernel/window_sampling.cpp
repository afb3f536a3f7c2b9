// Places windows at random, and finds the error of sums from differences of successive windows.
#include "window_sampling.hpp"

#include <algorithm>
#include <cmath>

namespace adaptyst::lib {

void window_block::begin(std::uint64_t now_ns, unsigned windows) {
  const std::uint64_t length_ns = windows * window_ns;
  begun_ns_ = now_ns;
  ends_ns_ = now_ns + length_ns;
  opens_ns_ = now_ns + std::uniform_int_distribution<std::uint64_t>(0, length_ns - 1)(random_);
  opened_ns_ = closed_ns_ = 0;
}

void window_block::defer(std::uint64_t now_ns) {
  constexpr std::uint64_t between_tries_ns = 100'000'000;
  opens_ns_ = now_ns + between_tries_ns;
}

// The end of the block may have passed.
void window_block::close(std::uint64_t now_ns) {
  closed_ns_ = now_ns;
  extend(now_ns);
}

std::uint64_t window_block::length_ns(std::uint64_t now_ns) const {
  const std::uint64_t end_ns = closed_ns_ != 0 ? std::min(ends_ns_, now_ns) : now_ns;
  return end_ns - std::min(end_ns, begun_ns_);
}

std::uint64_t window_block::open_length_ns(std::uint64_t now_ns) const {
  const std::uint64_t end_ns = closed_ns_ != 0 ? closed_ns_ : now_ns;
  return end_ns - std::min(end_ns, opened_ns_);
}

void even_cost::end_block(std::uint64_t now_ns, std::uint64_t total_ns, std::uint64_t over_ns) {
  left_ns_ = increase(counted_ns(now_ns), total_ns);
  total_ns_ = std::max(total_ns_, total_ns);
  begun_ns_ = now_ns;
  length_ns_ = over_ns;
}

std::uint64_t even_cost::left_ns(std::uint64_t now_ns) const {
  const std::uint64_t passed_ns = increase(begun_ns_, now_ns);
  if (passed_ns >= length_ns_) return 0;
  const double passed = static_cast<double>(passed_ns) / static_cast<double>(length_ns_);
  return static_cast<std::uint64_t>((1 - passed) * static_cast<double>(left_ns_));
}

void window_sums::extend(std::uint64_t by_ns) {
  const std::uint64_t signs = random_();
  for (auto& [path, sum] : paths_) {
    const double events = sum.last_in_ns * static_cast<double>(by_ns);
    sum.events += events;
    for (std::size_t at = 0; at != deviations; ++at) sum.differences[at] += (signs >> at & 1) != 0 ? events : -events;
  }
}

namespace {

// The events of the whole block. A thread with n events in the window has (n - 1) / 2 earlier ones on average, and it is
// delayed by n of them.
double estimate_block(const window_count& of, const window_lengths& lengths) {
  if (of.events == 0 || lengths.open_ns == 0) return 0;
  const auto events = static_cast<double>(of.events);
  const auto open = static_cast<double>(lengths.open_ns);
  const double of_thread = 1 + 2 * static_cast<double>(of.earlier) / events;
  const double delay = std::min(of_thread * lengths.delay_ns, open / 2);
  return events * (static_cast<double>(lengths.block_ns) - delay) / (open - delay);
}

}  // namespace

void window_sums::add(const path_counts& all, const window_lengths& lengths) {
  const auto length = static_cast<double>(lengths.block_ns);
  const std::uint64_t signs = random_();
  for (const auto& [path, count] : all) paths_.try_emplace(path);
  for (auto& [path, sum] : paths_) {
    const auto found = all.find(path);
    const window_count now = found != all.end() ? found->second : sum.counted;
    const window_count in_window{increase(sum.counted.events, now.events), increase(sum.counted.earlier, now.earlier)};
    const double events = estimate_block(in_window, lengths);
    sum.delayed += events - estimate_block(in_window, {lengths.block_ns, lengths.open_ns, 0});
    const double difference = (events - sum.last_in_ns * length) / std::sqrt(2.0);
    sum.counted = now;
    sum.events += events;
    sum.last_in_ns = events / length;
    events_ += events;
    if (blocks_ == 0) {
      sum.first = events;
      continue;
    }
    for (std::size_t at = 0; at != deviations; ++at)
      sum.differences[at] += (signs >> at & 1) != 0 ? difference : -difference;
  }
  ++blocks_;
}

std::unordered_map<std::uint64_t, window_sums::sum> window_sums::read() const {
  // As if the first block followed an empty one. The error is unknown without that for one block, and uncertain for few.
  constexpr std::uint64_t few_blocks = 5;
  constexpr double delay_uncertainty = 0.4;
  const auto blocks = static_cast<double>(blocks_);
  // 1.96 errors cover 95 %, also with an error from few differences.
  const double widening = std::sqrt(blocks / std::max(blocks - 4, 1.0));
  std::unordered_map<std::uint64_t, sum> sums;
  for (const auto& [path, from] : paths_) {
    sum& made = sums[path];
    made.events = from.events;
    const double first = blocks_ < few_blocks ? widening * from.first : 0;
    const double constant = std::hypot(first, delay_uncertainty * from.delayed);
    for (const double difference : from.differences) made.deviations.push_back(widening * difference);
    for (std::size_t at = 0; at != deviations; ++at) made.deviations[at] += at % 2 == 0 ? constant : -constant;
  }
  return sums;
}

}  // namespace adaptyst::lib
