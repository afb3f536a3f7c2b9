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

void wait_sums::add_window(std::uint64_t kernels, std::uint64_t all_copies_ns, std::uint64_t all_delays_ns) {
  ++windows;
  count += kernels;
  copy_ns += all_copies_ns;
  delay_ns += all_delays_ns;
  const auto copy = static_cast<wide_uint>(fixed_log2(all_copies_ns / kernels));
  const auto delay = static_cast<wide_uint>(fixed_log2(all_delays_ns / kernels));
  copy_logs += copy;
  delay_logs += delay;
  copy_squares += copy * copy;
  delay_squares += delay * delay;
  products += copy * delay;
}

void wait_sums::add(const wait_sums& more) {
  windows += more.windows;
  count += more.count;
  later += more.later;
  for (wide_uint wait_sums::*const sum :
       {&wait_sums::copy_ns, &wait_sums::delay_ns, &wait_sums::copy_logs, &wait_sums::delay_logs,
        &wait_sums::copy_squares, &wait_sums::delay_squares, &wait_sums::products})
    this->*sum += more.*sum;
}

void name_sums::add(const name_sums& more) {
  count += more.count;
  sum += more.sum;
  squares += more.squares;
  min = std::min(min, more.min);
  max = std::max(max, more.max);
  log_sum += more.log_sum;
  log_squares += more.log_squares;
  buckets.add(more.buckets);
  waits.add(more.waits);
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
