#include "containment.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace adaptyst::lib {

containment::largest_of::largest_of(const std::vector<std::uint64_t>& values) : leaves_(1) {
  while (leaves_ < values.size()) leaves_ *= 2;
  tree_.resize(2 * leaves_);
  std::copy(values.begin(), values.end(), tree_.begin() + static_cast<std::ptrdiff_t>(leaves_));
  for (std::size_t node = leaves_ - 1; node != 0; --node) tree_[node] = std::max(tree_[2 * node], tree_[2 * node + 1]);
}

std::uint64_t containment::largest_of::in(std::size_t first, std::size_t last) const {
  std::uint64_t largest = 0;
  if (first >= last) return largest;
  for (first += leaves_, last += leaves_; first < last; first /= 2, last /= 2) {
    if (first % 2 != 0) largest = std::max(largest, tree_[first++]);
    if (last % 2 != 0) largest = std::max(largest, tree_[--last]);
  }
  return largest;
}

std::uint32_t containment::largest_of::last_before(std::size_t place, std::uint64_t at_least) const {
  if (place == 0) return none;
  // Goes up to the nearest part on the left with such a value, then down in it.
  std::size_t node = place - 1 + leaves_;
  while (tree_[node] < at_least) {
    while (node % 2 == 0) node /= 2;  // ends at the root, which is 1
    if (node == 1) return none;
    --node;
  }
  while (node < leaves_) node = 2 * node + (tree_[2 * node + 1] >= at_least ? 1U : 0U);
  return static_cast<std::uint32_t>(node - leaves_);
}

containment::containment(std::vector<contained_span> spans) : spans_(std::move(spans)) {
  std::sort(spans_.begin(), spans_.end(), [](const contained_span& a, const contained_span& b) {
    return std::tie(a.begin_ns, b.end_ns, a.level, a.given) < std::tie(b.begin_ns, a.end_ns, b.level, b.given);
  });
  std::vector<std::uint64_t> ends(spans_.size());
  std::transform(spans_.begin(), spans_.end(), ends.begin(), [](const contained_span& span) { return span.end_ns; });
  ends_ = largest_of(ends);
  find_crossings();
  parents_.reserve(spans_.size());
  for (std::size_t i = 0; i != spans_.size(); ++i)
    parents_.push_back(find_before(i, spans_[i].begin_ns, spans_[i].end_ns));
}

// Two spans cross if one begins within the other and ends after it, or ends within the other and begins before it.
void containment::find_crossings() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_end;  // with their begins
  by_end.reserve(spans_.size());
  for (const contained_span& span : spans_) by_end.emplace_back(span.end_ns, span.begin_ns);
  std::sort(by_end.begin(), by_end.end());
  constexpr std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> earliness(by_end.size());
  std::transform(by_end.begin(), by_end.end(), earliness.begin(),
                 [](const auto& times) { return highest - times.second; });
  const largest_of begins(earliness);

  is_ambiguous_.resize(spans_.size());
  for (std::size_t i = 0; i != spans_.size(); ++i) {
    const std::uint64_t begin_ns = spans_[i].begin_ns, end_ns = spans_[i].end_ns;
    if (begin_ns == end_ns) continue;
    const auto begun = [this](std::uint64_t until_ns, bool is_included) {
      return static_cast<std::size_t>(std::partition_point(spans_.begin(), spans_.end(),
                                                           [&](const contained_span& span) {
                                                             return is_included ? span.begin_ns <= until_ns
                                                                                : span.begin_ns < until_ns;
                                                           }) -
                                      spans_.begin());
    };
    const auto ended = [&](std::uint64_t until_ns, bool is_included) {
      return static_cast<std::size_t>(std::partition_point(by_end.begin(), by_end.end(),
                                                           [&](const auto& times) {
                                                             return is_included ? times.first <= until_ns
                                                                                : times.first < until_ns;
                                                           }) -
                                      by_end.begin());
    };
    const bool ends_behind_it = ends_.in(begun(begin_ns, true), begun(end_ns, false)) > end_ns;
    is_ambiguous_[i] = ends_behind_it || begins.in(ended(begin_ns, true), ended(end_ns, false)) > highest - begin_ns;
    ambiguous_ += is_ambiguous_[i] ? 1 : 0;
  }
}

// Spans before `place` begin no later than the wanted times. If no spans cross, the last of them that ends late enough
// is the shortest, except at an instant where one ends and the next begins. Otherwise, a shorter span may begin
// earlier, by less than the length of the found one.
std::uint32_t containment::find_before(std::size_t place, std::uint64_t begin_ns, std::uint64_t end_ns) const {
  std::uint32_t found = ends_.last_before(place, end_ns);
  if (found == none || (ambiguous_ == 0 && begin_ns != end_ns)) return found;
  const auto length_ns = [this](std::uint32_t number) { return spans_[number].end_ns - spans_[number].begin_ns; };
  for (std::uint32_t other = ends_.last_before(found, end_ns);
       other != none && end_ns - spans_[other].begin_ns < length_ns(found); other = ends_.last_before(other, end_ns))
    if (length_ns(other) < length_ns(found)) found = other;
  return found;
}

std::uint32_t containment::find(std::uint64_t begin_ns, std::uint64_t end_ns) const {
  const auto behind = std::partition_point(
      spans_.begin(), spans_.end(), [begin_ns](const contained_span& span) { return span.begin_ns <= begin_ns; });
  return find_before(static_cast<std::size_t>(behind - spans_.begin()), begin_ns, end_ns);
}

}  // namespace adaptyst::lib
