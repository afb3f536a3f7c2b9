// Sorts the spans of a block by window and group, cuts the time that they cover at the borders of windows, and sums up.
#include "block.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace adaptyst::lib {

void block_analysis::add(std::uint64_t block, const std::vector<kept_span>& spans, variability_parts& to) {
  // Most spans are of the same series as those before them.
  series* last = nullptr;
  std::uint32_t last_key = 0;
  for (const kept_span& one : spans) {
    const std::uint32_t key = by_name_ ? one.name : one.group;
    if (last == nullptr || key != last_key) {
      last = &series_[key];
      last_key = key;
    }
    const span_role role = one.role();
    const bool is_copy = role == span_role::copy || role == span_role::rest_of_copy;
    const bool is_rest = role == span_role::rest_of_work || role == span_role::rest_of_copy;
    (is_copy ? last->copies : last->work).push_back({one.start(), one.end, one.name, one.group, is_rest});
    if (is_rest) continue;
    to.first_ns = std::min(to.first_ns, one.start());
    to.last_ns = std::max(to.last_ns, one.end);
  }
  for (auto& [key, all] : series_) {
    if (all.work.empty() && all.copies.empty()) continue;
    add_series(block, key, all, to);
    all.work.clear();
    all.copies.clear();
  }
}

void block_analysis::add_series(std::uint64_t block, std::uint32_t key, series& all, variability_parts& to) {
  const auto earlier = [](const one_span& a, const one_span& b) { return a.start < b.start; };
  for (std::vector<one_span>* const spans : {&all.work, &all.copies})
    if (!std::is_sorted(spans->begin(), spans->end(), earlier)) std::sort(spans->begin(), spans->end(), earlier);
  rows_.assign(window_grid::windows_in_block, {});
  for (std::size_t window = 0; window != rows_.size(); ++window) {
    rows_[window].window = block * window_grid::windows_in_block + window;
    (by_name_ ? rows_[window].name : rows_[window].group) = key;
  }
  count(block, all.work, to);
  cover(block, all);
  for (const window_row& row : rows_)
    if (row.count != 0 || row.active_ns != 0) to.windows.push_back(row);
}

void block_analysis::count(std::uint64_t block, const std::vector<one_span>& work, variability_parts& to) {
  const std::uint64_t begin = grid_.block_begin(block);
  std::size_t window = 0;
  std::uint64_t window_end = begin + grid_.width_ns;
  places_.clear();
  std::uint32_t last_group = 0;
  std::vector<slot>* slots = nullptr;
  for (const one_span& one : work) {
    if (one.is_rest) continue;
    if (one.start >= window_end) {
      close_window(rows_[window], to);
      window = static_cast<std::size_t>((one.start - begin) / grid_.width_ns);
      window_end = begin + (window + 1) * grid_.width_ns;
    }
    if (slots == nullptr || one.group != last_group) {
      const auto [place, is_new] = places_.try_emplace(one.group, places_.size());
      if (slots_.size() == place->second) slots_.emplace_back();
      slots = &slots_[place->second];
      if (is_new) slots->clear();
      last_group = one.group;
    }
    if (slots->size() <= one.name) slots->resize(std::size_t{one.name} + 1);
    slot& its = (*slots)[one.name];
    if (its.sums == nullptr) its.sums = &to.find(one.group, one.name);
    if (its.count == 0) used_.emplace_back(one.group, one.name);
    const std::uint64_t duration = one.end - one.start;
    const std::int64_t log = fixed_log2(duration);
    its.sums->add(duration, log);
    ++its.count;
    its.sum += duration;
    durations_.push_back(duration);
    window_row& row = rows_[window];
    row.sum += duration;
    row.squares += static_cast<wide_uint>(duration) * duration;
    row.log_sum += log;
  }
  close_window(rows_[window], to);
}

void block_analysis::close_window(window_row& row, variability_parts& to) {
  if (durations_.empty()) return;
  row.count = durations_.size();
  const auto [min, max] = std::minmax_element(durations_.begin(), durations_.end());
  row.min = *min;
  row.max = *max;
  row.p50 = quantile(durations_, 0.5);
  row.p95 = quantile(durations_, 0.95);
  durations_.clear();
  for (const auto& [group, name] : used_) {
    slot& its = slots_[places_.at(group)][name];
    to.entries.push_back({row.window, group, name, its.count, its.sum});
    its.count = its.sum = 0;
  }
  used_.clear();
}

void block_analysis::cover(std::uint64_t block, series& all) {
  const std::uint64_t begin = grid_.block_begin(block);
  std::vector<interval> work, copies;
  work.reserve(all.work.size());
  copies.reserve(all.copies.size());
  for (const one_span& one : all.work) work.push_back({one.start, one.end});
  for (const one_span& one : all.copies) copies.push_back({one.start, one.end});
  unite(work);
  unite(copies);
  const std::vector<interval> stalls = subtract(copies, work);
  const auto add = [&](const std::vector<interval>& what, std::uint64_t window_row::*to) {
    if (what.empty()) return;
    std::vector<std::uint64_t> covered(rows_.size());
    add_to_windows(what, begin, grid_.width_ns, covered);
    for (std::size_t window = 0; window != rows_.size(); ++window) rows_[window].*to = covered[window];
  };
  add(work, &window_row::busy_ns);
  add(copies, &window_row::copy_ns);
  add(stalls, &window_row::stall_ns);
  for (window_row& row : rows_) row.active_ns = row.busy_ns + row.stall_ns;
}

}  // namespace adaptyst::lib
