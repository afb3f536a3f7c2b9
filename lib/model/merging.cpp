#include "merging.hpp"

#include <algorithm>
#include <vector>

#include "order.hpp"

namespace adaptyst::lib {

std::string joined(const std::string& a, const std::string& b) {
  constexpr std::size_t max_words = 16;
  constexpr const char* more = "…";
  if (a == b || b.empty()) return a;
  if (a.empty()) return b;
  std::vector<std::string> words;
  for (const std::string* text : {&a, &b}) {
    for (std::size_t at = 0; at <= text->size();) {
      const std::size_t end = std::min(text->find(" | ", at), text->size());
      words.push_back(text->substr(at, end - at));
      at = end + 3;
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  const auto marker = std::find(words.begin(), words.end(), more);
  bool is_cut = marker != words.end();
  if (is_cut) words.erase(marker);
  if (words.size() > max_words) {
    words.resize(max_words);
    is_cut = true;
  }
  if (is_cut) words.emplace_back(more);
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " | ") + word;
  return all;
}

void add_machines(std::vector<machine>& all, const std::vector<machine>& more) {
  for (const machine& added : more) {
    const auto place = std::lower_bound(all.begin(), all.end(), added,
                                        [](const machine& a, const machine& b) { return a.host < b.host; });
    if (place == all.end() || place->host != added.host) all.insert(place, added);
    else if (order(*place) < order(added)) *place = added;
  }
  if (all.size() > profile::max_machines) all.resize(profile::max_machines);
}

}  // namespace adaptyst::lib
