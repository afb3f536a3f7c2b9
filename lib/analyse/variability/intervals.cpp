#include "intervals.hpp"

#include <algorithm>
#include <cstddef>

namespace adaptyst::lib {

void unite(std::vector<interval>& all) {
  std::size_t count = 0;
  for (const interval& one : all) {
    if (one.begin >= one.end) continue;
    if (count != 0 && one.begin <= all[count - 1].end) all[count - 1].end = std::max(all[count - 1].end, one.end);
    else all[count++] = one;
  }
  all.resize(count);
}

std::vector<interval> subtract(const std::vector<interval>& from, const std::vector<interval>& less) {
  std::vector<interval> made;
  auto other = less.begin();
  for (interval rest : from) {
    while (other != less.end() && other->end <= rest.begin) ++other;
    for (auto one = other; one != less.end() && one->begin < rest.end; ++one) {
      if (one->begin > rest.begin) made.push_back({rest.begin, one->begin});
      rest.begin = std::max(rest.begin, one->end);
    }
    if (rest.begin < rest.end) made.push_back(rest);
  }
  return made;
}

void add_to_windows(const std::vector<interval>& all, std::uint64_t begin, std::uint64_t window_ns,
                    std::vector<std::uint64_t>& covered) {
  const std::uint64_t end = begin + window_ns * covered.size();
  for (const interval& one : all) {
    std::uint64_t from = std::max(one.begin, begin);
    const std::uint64_t to = std::min(one.end, end);
    for (std::uint64_t window = from < to ? (from - begin) / window_ns : 0; from < to; ++window) {
      const std::uint64_t border = std::min(to, begin + (window + 1) * window_ns);
      covered[static_cast<std::size_t>(window)] += border - from;
      from = border;
    }
  }
}

}  // namespace adaptyst::lib
