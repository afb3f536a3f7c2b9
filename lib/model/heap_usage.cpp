// Reads the numbers of the heap adapter by their names, and adds up the regions of a profile.
#include "heap_usage.hpp"

#include <algorithm>
#include <cmath>

namespace adaptyst::lib {

namespace {

// The number was written by a process under observation.
std::uint64_t to_count(double number) {
  return number >= 0 && number < 0x1p63 ? static_cast<std::uint64_t>(std::llround(number)) : 0;
}

std::optional<double> if_positive(double number) {
  return number > 0 && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> if_any(double number) {
  return number > 0 ? std::optional(to_count(number)) : std::nullopt;
}

}  // namespace

void heap_rows::add(const measured_row& row, const measured_site& site) {
  for (std::size_t at = 0; at < std::min(row.attributes.size(), site.attributes.size()); ++at)
    numbers_[site.attributes[at]].merge(row.attributes[at]);
}

std::optional<heap_usage> heap_rows::usage() const {
  if (numbers_.empty()) return std::nullopt;
  const auto find = [&](const char* name) {
    const auto found = numbers_.find(name);
    return found != numbers_.end() ? found->second : attribute{};
  };
  const auto sum = [&](const char* name) { return find(name).sum; };
  heap_usage made;
  made.sampling_interval_bytes = to_count(find("sampling_interval_bytes").max);
  made.allocated_bytes = to_count(sum("allocated_bytes") + sum("untracked_bytes"));
  made.allocations = to_count(sum("allocations") + sum("untracked_calls"));
  made.freed_bytes = to_count(sum("freed_bytes"));
  made.frees = to_count(sum("frees"));
  made.live_bytes = to_count(sum("allocated_bytes") - sum("released_bytes"));
  made.live_blocks = to_count(sum("allocations") - sum("releases"));
  made.live_byte_calls = if_positive(sum("allocated_byte_calls") - sum("released_byte_calls")).value_or(0);
  if (const auto most = if_positive(find("high_water_bytes").max)) made.high_water_bytes = to_count(*most);
  made.untracked_bytes = if_any(sum("untracked_bytes"));
  made.nested_calls = if_any(sum("nested_calls"));
  made.unseen_frees = if_any(sum("unseen_frees"));
  if (made.sampling_interval_bytes == 0) return made;
  const auto variance = [&](double number) { return if_positive(number).value_or(0); };
  made.bytes_variance = variance(sum("bytes_variance") + sum("untracked_bytes_variance"));
  made.allocations_variance = variance(sum("calls_variance") + sum("untracked_calls_variance"));
  made.freed_variance = variance(sum("freed_bytes_variance"));
  made.frees_variance = variance(sum("frees_variance"));
  made.live_variance = variance(sum("bytes_variance") - sum("released_variance"));
  if (made.high_water_bytes) made.high_water_variance = variance(find("high_water_variance").max);
  return made;
}

void omit_unknown_heap(std::vector<region>& regions) {
  const auto is_untracked = [](const region& row) { return row.heap && row.heap->untracked_bytes; };
  if (std::none_of(regions.begin(), regions.end(), is_untracked)) return;
  for (region& row : regions) {
    if (!row.heap) continue;
    heap_usage& heap = *row.heap;
    heap.freed_bytes = heap.frees = heap.high_water_bytes = std::nullopt;
    heap.freed_variance = heap.frees_variance = heap.high_water_variance = std::nullopt;
  }
}

std::optional<heap_totals> add_up_heap(const profile& in) {
  std::optional<heap_totals> made;
  for (const region& row : in.regions) {
    if (!row.heap) continue;
    if (!made) made.emplace();
    const heap_usage& more = *row.heap;
    if (more.high_water_bytes > made->sums.high_water_bytes) made->high_water_region = row.id;
    made->sums.merge(more);
  }
  if (!made) return made;
  if (!made->sums.untracked_bytes) {
    made->live_bytes = made->sums.live_bytes;
    return made;
  }
  made->high_water_region = 0;
  made->sums.high_water_bytes = std::nullopt;
  made->sums.high_water_variance = std::nullopt;
  return made;
}

}  // namespace adaptyst::lib
