#include "nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace adaptyst::lib {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (std::size_t at = 0; at != above.size(); ++at) above[at] = at;
  for (std::size_t i = 0; i != a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j != b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] == b[j] ? 0 : 1), above[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = above;
    above = row;
  }
  return above.back();
}

std::size_t max_distance(std::string_view text) { return std::max<std::size_t>(2, text.size() / 3); }

std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest = 200;
  if (text.size() > longest) return {};
  std::string_view best;
  std::size_t least = max_distance(text) + 1;
  for (const std::string_view candidate : candidates) {
    // The allowed distance could replace all of a short name: that is no similarity.
    const std::size_t steps = distance(text, candidate);
    if (steps >= least || steps >= std::min(text.size(), candidate.size())) continue;
    least = steps;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& candidates) {
  const std::string_view meant = nearest(text, candidates);
  return fmt::format("{}choose from {}", meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant),
                     fmt::join(candidates, ", "));
}

}  // namespace adaptyst::lib
