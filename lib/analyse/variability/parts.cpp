#include "parts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace adaptyst::lib {

namespace {

template <class Row>
void append(std::vector<Row>& to, std::vector<Row>&& more) {
  if (to.empty()) to = std::move(more);
  else to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

void name_sums::add(const name_sums& more) {
  count += more.count;
  sum += more.sum;
  squares += more.squares;
  min = std::min(min, more.min);
  max = std::max(max, more.max);
  log_sum += more.log_sum;
  log_squares += more.log_squares;
  buckets.add(more.buckets);
}

name_sums& variability_parts::find(std::uint32_t group, std::uint32_t name) {
  std::unique_ptr<name_sums>& found = names[key(group, name)];
  if (found == nullptr) found = std::make_unique<name_sums>();
  return *found;
}

void variability_parts::add(variability_parts&& more) {
  append(windows, std::move(more.windows));
  append(entries, std::move(more.entries));
  for (auto& [key, sums] : more.names) {
    std::unique_ptr<name_sums>& found = names[key];
    if (found == nullptr) found = std::move(sums);
    else found->add(*sums);
  }
  for (const auto& [key, sums] : more.copies) copies[key].add(sums);
  first_ns = std::min(first_ns, more.first_ns);
  last_ns = std::max(last_ns, more.last_ns);
  more = {};
}

}  // namespace adaptyst::lib
