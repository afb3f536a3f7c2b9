// Reads the numbers of the heap adapter by their names, and adds up the regions of a profile.
#include "heap_usage.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace adaptyst::lib {

namespace {

// The number was written by a process under observation.
std::uint64_t to_count(double number) {
  return number >= 0 && number < 0x1p63 ? static_cast<std::uint64_t>(number + 0.5) : 0;
}

std::optional<double> if_positive(double number) {
  return number > 0 && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

void add_variance(std::optional<double>& sum, const std::optional<double>& more) {
  if (more) sum = sum.value_or(0) + *more;
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
  made.allocated_bytes = to_count(sum("allocated_bytes"));
  made.allocations = to_count(sum("allocations"));
  made.freed_bytes = to_count(sum("freed_bytes"));
  made.frees = to_count(sum("frees"));
  made.bytes_variance = if_positive(sum("bytes_variance"));
  made.allocations_variance = if_positive(sum("allocations_variance"));
  made.live_bytes = to_count(sum("allocated_bytes") - sum("untracked_bytes") - sum("released_bytes"));
  made.live_blocks = to_count(sum("allocations") - sum("untracked_calls") - sum("releases"));
  made.live_byte_calls = if_positive(sum("tracked_byte_calls") - sum("released_byte_calls")).value_or(0);
  if (const auto most = if_positive(find("high_water_bytes").max)) made.high_water_bytes = to_count(*most);
  if (const auto lost = if_positive(sum("untracked_bytes"))) made.untracked_bytes = to_count(*lost);
  return made;
}

std::optional<heap_totals> add_up_heap(const profile& in) {
  std::optional<heap_totals> made;
  for (const region& row : in.regions) {
    if (!row.heap) continue;
    if (!made) made.emplace();
    const heap_usage& more = *row.heap;
    heap_usage& sums = made->sums;
    sums.allocated_bytes += more.allocated_bytes;
    sums.allocations += more.allocations;
    sums.freed_bytes += more.freed_bytes;
    sums.frees += more.frees;
    add_variance(sums.bytes_variance, more.bytes_variance);
    add_variance(sums.allocations_variance, more.allocations_variance);
    sums.live_bytes += more.live_bytes;
    sums.live_blocks += more.live_blocks;
    if (more.untracked_bytes) sums.untracked_bytes = sums.untracked_bytes.value_or(0) + *more.untracked_bytes;
    if (more.high_water_bytes > sums.high_water_bytes) {
      sums.high_water_bytes = more.high_water_bytes;
      made->high_water_region = row.id;
    }
  }
  if (!made || made->sums.untracked_bytes) return made;
  made->live_bytes = made->sums.live_bytes;
  // The live blocks are part of the sampled ones: the variance is their share.
  if (made->sums.bytes_variance)
    made->live_error_bytes = std::sqrt(*made->sums.bytes_variance * static_cast<double>(made->sums.live_bytes) /
                                       std::max(1.0, static_cast<double>(made->sums.allocated_bytes)));
  return made;
}

}  // namespace adaptyst::lib
