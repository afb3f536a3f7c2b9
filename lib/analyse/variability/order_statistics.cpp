// In memory by partial sorting. If memory is too small, by counting: first by the highest twelve bits, then, among
// numbers with the wanted bits, by the next twelve, until the rest fits in memory.
#include "order_statistics.hpp"

#include <algorithm>
#include <array>

namespace adaptyst::lib {

namespace {

constexpr unsigned bits_at_once = 12;
constexpr unsigned all_bits = 60;  // durations have 46; larger numbers share the last place

}  // namespace

void order_statistics::put_away() {
  if (beyond_ == nullptr) return;
  beyond_->put(kept_.data(), kept_.size());
  put_ += kept_.size();
  kept_.clear();
}

void order_statistics::visit(const std::function<void(const std::uint64_t* numbers, std::size_t count)>& take) const {
  if (put_ != 0) beyond_->visit(take);
  take(kept_.data(), kept_.size());
}

std::uint64_t order_statistics::select(std::uint64_t rank) {
  std::uint64_t low = 0;      // the highest bits of the wanted number
  unsigned below = all_bits;  // the number of unknown bits below them
  while (below != 0) {
    const unsigned next = below - bits_at_once;
    std::vector<std::uint64_t> counts(std::size_t{1} << bits_at_once);
    visit([&](const std::uint64_t* numbers, std::size_t count) {
      for (std::size_t at = 0; at != count; ++at)
        if (numbers[at] >> below == low >> below) ++counts[(numbers[at] >> next) & (counts.size() - 1)];
    });
    std::size_t place = 0;
    while (rank >= counts[place]) rank -= counts[place++];
    low |= static_cast<std::uint64_t>(place) << next;
    below = next;
    if (counts[place] > max_kept_) continue;
    std::vector<std::uint64_t> left;
    left.reserve(static_cast<std::size_t>(counts[place]));
    visit([&](const std::uint64_t* numbers, std::size_t count) {
      for (std::size_t at = 0; at != count; ++at)
        if (numbers[at] >> below == low >> below) left.push_back(numbers[at]);
    });
    const auto wanted = left.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(left.begin(), wanted, left.end());
    return *wanted;
  }
  return low;
}

double order_statistics::find_quantile(double q) {
  const double at = static_cast<double>(count() - 1) * q;
  const auto below = static_cast<std::uint64_t>(at);
  const auto low = static_cast<double>(select(below));
  if (static_cast<double>(below) == at || below + 1 == count()) return low;
  return low + (static_cast<double>(select(below + 1)) - low) * (at - static_cast<double>(below));
}

order_statistics::found order_statistics::finish() {
  found made;
  made.min = std::numeric_limits<std::uint64_t>::max();
  visit([&](const std::uint64_t* numbers, std::size_t count) {
    for (std::size_t at = 0; at != count; ++at) {
      made.min = std::min(made.min, numbers[at]);
      made.max = std::max(made.max, numbers[at]);
    }
  });
  if (put_ != 0) {
    made.p50 = find_quantile(0.5);
    made.p95 = find_quantile(0.95);
    beyond_->clear();
    put_ = 0;
  } else {
    // A value above the median stays above it in any order, so the second quantile searches only one half.
    const std::size_t count = kept_.size();
    std::size_t sorted = 0;
    const auto find = [&](double q) {
      const double at = static_cast<double>(count - 1) * q;
      const auto below = static_cast<std::size_t>(at);
      const auto place = kept_.begin() + static_cast<std::ptrdiff_t>(below);
      if (below >= sorted) {
        std::nth_element(kept_.begin() + static_cast<std::ptrdiff_t>(sorted), place, kept_.end());
        sorted = below;
      }
      const auto low = static_cast<double>(*place);
      if (static_cast<double>(below) == at || below + 1 == count) return low;
      const auto high = static_cast<double>(*std::min_element(place + 1, kept_.end()));
      return low + (high - low) * (at - static_cast<double>(below));
    };
    made.p50 = find(0.5);
    made.p95 = find(0.95);
  }
  kept_.clear();
  return made;
}

}  // namespace adaptyst::lib
