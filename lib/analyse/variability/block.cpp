// Sorts the spans of a block by group and start, and goes through each series once to count windows and covered time.
#include "block.hpp"

#include <algorithm>
#include <utility>

namespace adaptyst::lib {

namespace {

using spans_at = std::vector<kept_span>::iterator;

bool is_earlier(const kept_span& a, const kept_span& b) { return a.start() < b.start(); }

// Divides unsorted spans into short stretches of time in one pass, and sorts each stretch. For evenly distributed
// starts, this takes a third of the time of a sort. `room` is kept for the next call.
void sort_shuffled(spans_at from, spans_at to, std::vector<kept_span>& room) {
  constexpr std::size_t spans_of_bucket = 8, max_buckets = std::size_t{1} << 16U;
  const auto count = static_cast<std::size_t>(to - from);
  const auto [first, last] = std::minmax_element(from, to, is_earlier);
  const std::uint64_t least = first->start(), range = last->start() - least;
  const std::size_t wanted = std::min(count / spans_of_bucket, max_buckets);
  unsigned shift = 0;
  while (range >> shift > wanted) ++shift;
  std::vector<std::size_t> ends((range >> shift) + 1);
  const auto bucket = [&](const kept_span& span) { return static_cast<std::size_t>((span.start() - least) >> shift); };
  for (spans_at position = from; position != to; ++position) ++ends[bucket(*position)];
  std::size_t before = 0;
  for (std::size_t& border : ends) before += std::exchange(border, before);
  room.resize(std::max(room.size(), count));
  for (spans_at position = from; position != to; ++position) room[ends[bucket(*position)]++] = *position;
  before = 0;
  for (const std::size_t end : ends) {
    const auto begin = room.begin() + static_cast<std::ptrdiff_t>(before);
    std::sort(begin, room.begin() + static_cast<std::ptrdiff_t>(end), is_earlier);
    before = end;
  }
  std::copy(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count), from);
}

// The rows of each table and thread may be sorted: then the spans are a few sorted stretches, which are merged.
void sort_by_start(spans_at from, spans_at to, std::vector<kept_span>& room) {
  const auto earlier = is_earlier;
  constexpr std::size_t max_stretches = 16;
  std::vector<spans_at> borders{from};
  while (borders.back() != to) {
    if (borders.size() > max_stretches) return sort_shuffled(from, to, room);
    borders.push_back(std::is_sorted_until(borders.back(), to, earlier));
  }
  while (borders.size() > 2) {
    std::vector<spans_at> left{from};
    for (std::size_t at = 2; at < borders.size(); at += 2) {
      std::inplace_merge(borders[at - 2], borders[at - 1], borders[at], earlier);
      left.push_back(borders[at]);
    }
    if (borders.size() % 2 == 0) left.push_back(to);
    borders = std::move(left);
  }
}

}  // namespace

block_analysis::block_analysis(window_grid grid, bool by_name, number_store* beyond, std::size_t max_durations)
    : grid_(grid), by_name_(by_name), durations_(beyond, max_durations) {
  rows_.resize(window_grid::windows_in_block);
}

std::size_t block_analysis::find_series(std::uint32_t key) {
  known_series& series = known_series_[key % known_series_.size()];
  if (!series.is_known || series.key != key) {
    const auto [entry, is_new] = series_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) {
      keys_.push_back(key);
      counts_.push_back(0);
    }
    series = {key, entry->second, true};
  }
  return series.place;
}

void block_analysis::add(std::uint64_t block, const std::vector<kept_span>& spans, variability_parts& to) {
  series_.clear();
  known_series_.fill({});
  keys_.clear();
  counts_.clear();
  places_of_spans_.resize(spans.size());
  ordered_.resize(spans.size());
  for (std::size_t at = 0; at != spans.size(); ++at) {
    const std::size_t place = find_series(key(spans[at], by_name_));
    ++counts_[place];
    places_of_spans_[at] = static_cast<std::uint32_t>(place);
  }
  std::size_t before = 0;
  for (std::size_t& border : counts_) before += std::exchange(border, before);
  for (std::size_t at = 0; at != spans.size(); ++at) ordered_[counts_[places_of_spans_[at]]++] = spans[at];
  begin(block, to);
  std::size_t first = 0;
  for (std::size_t place = 0; place != keys_.size(); ++place) {
    // The position after the last entry of each series.
    const std::size_t last = counts_[place];
    const auto from = ordered_.begin() + static_cast<std::ptrdiff_t>(first),
               behind = ordered_.begin() + static_cast<std::ptrdiff_t>(last);
    sort_by_start(from, behind, room_);
    begin_series(keys_[place]);
    for (std::size_t at = first; at != last; ++at) take_one(ordered_[at]);
    end_series();
    first = last;
  }
}

void block_analysis::begin(std::uint64_t block, variability_parts& to) {
  if (to_ != &to) {
    slots_.clear();
    places_.clear();
    slots_at_hand_ = nullptr;
    to_ = &to;
  }
  block_ = block;
  begin_ns_ = grid_.block_begin(block);
  has_series_ = false;
}

void block_analysis::take(const kept_span& span) {
  const std::uint32_t series_key = key(span, by_name_);
  if (!has_series_ || series_key != key_) {
    if (has_series_) end_series();
    begin_series(series_key);
  }
  take_one(span);
}

void block_analysis::end() {
  if (has_series_) end_series();
}

void block_analysis::begin_series(std::uint32_t key) {
  key_ = key;
  has_series_ = true;
  std::fill(rows_.begin(), rows_.end(), window_row());
  window_ = 0;
  work_end_ = last_copy_end_ = last_copy_ns_ = 0;
  window_end_ = begin_ns_ + grid_.width_ns;
  const auto start = [this](coverage& of, std::uint64_t window_row::*to) {
    of.start(rows_, to, begin_ns_, grid_.width_ns);
  };
  start(busy_, &window_row::busy_ns);
  start(copied_, &window_row::copy_ns);
  start(active_, &window_row::active_ns);
}

void block_analysis::note_copy(const kept_span& copy, std::uint64_t start) {
  const bool has_begin = copy.role() == span_role::copy;
  if (copy.end < last_copy_end_ || (!has_begin && copy.end == start)) return;
  last_copy_end_ = copy.end;
  last_copy_ns_ = has_begin ? copy.end - start : 0;
}

// A kernel that starts on an idle device soon after a copy. An earlier kernel is needed for its delay.
std::optional<block_analysis::wait> block_analysis::take_wait(std::uint64_t start) {
  if (last_copy_ns_ == 0 || last_copy_end_ > start) return std::nullopt;
  const std::uint64_t copy_ns = std::exchange(last_copy_ns_, 0);
  if (work_end_ == 0 || work_end_ > last_copy_end_) return std::nullopt;
  return wait{copy_ns, start - work_end_, start - last_copy_end_ > max_launch_gap_ns};
}

void block_analysis::take_one(const kept_span& span) {
  const span_role role = span.role();
  const std::uint64_t start = span.start();
  active_.add(start, span.end);
  if (span.is_copy()) {
    copied_.add(start, span.end);
    count_bytes(span, start);
    note_copy(span, start);
  } else {
    busy_.add(start, span.end);
  }
  std::optional<wait> waited;
  if (!span.is_copy()) {
    if (role == span_role::work) waited = take_wait(start);
    work_end_ = std::max(work_end_, span.end);
  }
  if (role == span_role::rest_of_work || role == span_role::rest_of_copy) return;
  to_->first_ns = std::min(to_->first_ns, start);
  to_->last_ns = std::max(to_->last_ns, span.end);
  if (role == span_role::work) count(span, start, waited);
}

window_row& block_analysis::find_window(std::uint64_t start) {
  if (start >= window_end_) {
    close_window();
    window_ = static_cast<std::size_t>((start - begin_ns_) / grid_.width_ns);
    window_end_ = begin_ns_ + (window_ + 1) * grid_.width_ns;
  }
  return rows_[window_];
}

void block_analysis::count_bytes(const kept_span& copy, std::uint64_t start) {
  if (copy.name == 0) return;  // as in most rests
  window_row& row = find_window(start);
  if (copy.name == kept_span::unknown_bytes) row.has_unknown_bytes = true;
  else row.copied_bytes += copy.name;
}

void block_analysis::count(const kept_span& span, std::uint64_t start, const std::optional<wait>& waited) {
  window_row& row = find_window(start);
  if (slots_at_hand_ == nullptr || span.group != group_at_hand_) {
    const auto [place, is_new] = places_.try_emplace(span.group, places_.size());
    if (is_new) slots_.emplace_back();
    slots_at_hand_ = &slots_[place->second];
    group_at_hand_ = span.group;
  }
  if (slots_at_hand_->size() <= span.name) slots_at_hand_->resize(std::size_t{span.name} + 1);
  slot& used_slot = (*slots_at_hand_)[span.name];
  if (used_slot.sums == nullptr) used_slot.sums = &to_->find(span.group, span.name);
  if (used_slot.count == 0)
    used_.push_back({span.group, span.name, static_cast<std::size_t>(slots_at_hand_ - slots_.data())});
  const std::uint64_t duration = span.end - start;
  const std::int64_t log = fixed_log2(duration);
  used_slot.sums->add(duration, log);
  ++used_slot.count;
  used_slot.sum += duration;
  if (waited && waited->is_late) ++used_slot.sums->waits.later;
  if (waited && !waited->is_late) {
    ++used_slot.waits;
    used_slot.copies_ns += waited->copy_ns;
    used_slot.delays_ns += waited->delay_ns;
  }
  durations_.add(duration);
  row.sum += duration;
  row.squares += static_cast<wide_uint>(duration) * duration;
  row.log_sum += log;
}

void block_analysis::close_window() {
  if (durations_.count() == 0) return;
  window_row& row = rows_[window_];
  row.count = durations_.count();
  const order_statistics::found found = durations_.finish();
  row.min = found.min;
  row.max = found.max;
  row.p50 = found.p50;
  row.p95 = found.p95;
  for (const used_slot& used : used_) {
    slot& used_slot = slots_[used.place][used.name];
    to_->entries.push_back(
        {block_ * window_grid::windows_in_block + window_, used.group, used.name, used_slot.count, used_slot.sum});
    if (used_slot.waits != 0)
      used_slot.sums->waits.add_window(used_slot.waits, used_slot.copies_ns, used_slot.delays_ns);
    used_slot.count = used_slot.sum = 0;
    used_slot.waits = used_slot.copies_ns = used_slot.delays_ns = 0;
  }
  used_.clear();
}

void block_analysis::end_series() {
  close_window();
  for (coverage* const coverage : {&busy_, &copied_, &active_}) coverage->finish();
  for (std::size_t window = 0; window != rows_.size(); ++window) {
    window_row& row = rows_[window];
    if (row.count == 0 && row.active_ns == 0 && row.copied_bytes == 0) continue;
    row.window = block_ * window_grid::windows_in_block + window;
    (by_name_ ? row.name : row.group) = key_;
    // Time with copies and without work is the time of either minus the time of work.
    row.stall_ns = row.active_ns - row.busy_ns;
    to_->windows.push_back(row);
  }
  has_series_ = false;
}

}  // namespace adaptyst::lib
