#include "sorted_spans.hpp"

#include <algorithm>
#include <queue>

#include "../analyse/variability/block.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t numbers_at_once = 32768;
// Spans of each run in memory during the merge; fewer if there are many runs.
constexpr std::size_t most_of_run = 4096, least_of_run = 128;

}  // namespace

sorted_spans::sorted_spans(spill_file& beyond, bool by_name, std::size_t max_spans)
    : beyond_(beyond), by_name_(by_name), max_spans_(std::max<std::size_t>(1, max_spans)) {}

void sorted_spans::add(const kept_span* spans, std::size_t count) {
  while (count != 0) {
    if (kept_.size() == max_spans_) put_away();
    const std::size_t part = std::min(count, max_spans_ - kept_.size());
    kept_.insert(kept_.end(), spans, spans + part);
    spans += part;
    count -= part;
  }
}

void sorted_spans::sort() {
  std::sort(kept_.begin(), kept_.end(),
            [this](const kept_span& a, const kept_span& b) { return block_analysis::is_before(a, b, by_name_); });
}

void sorted_spans::put_away() {
  sort();
  run made;
  made.left = kept_.size();
  made.at = beyond_.write({{kept_.data(), kept_.size() * sizeof(kept_span)}});
  runs_.push_back(std::move(made));
  kept_.clear();
}

bool sorted_spans::fill(run& run, std::size_t count) const {
  run.some.resize(static_cast<std::size_t>(std::min<std::uint64_t>(count, run.left)));
  run.next = 0;
  if (run.some.empty()) return false;
  beyond_.read(run.at, run.some.data(), run.some.size() * sizeof(kept_span));
  run.at += run.some.size() * sizeof(kept_span);
  run.left -= run.some.size();
  return true;
}

void sorted_spans::visit(const std::function<void(const kept_span& span)>& take) {
  if (!runs_.empty() && !kept_.empty()) put_away();
  sort();
  for (const kept_span& span : kept_) take(span);
  kept_.clear();
  if (runs_.empty()) return;
  kept_.shrink_to_fit();
  const std::size_t of_run = std::clamp(max_spans_ / runs_.size(), least_of_run, most_of_run);
  const auto later = [this](const run* a, const run* b) {
    return block_analysis::is_before(b->some[b->next], a->some[a->next], by_name_);
  };
  std::priority_queue<run*, std::vector<run*>, decltype(later)> next(later);
  for (run& run : runs_)
    if (fill(run, of_run)) next.push(&run);
  while (!next.empty()) {
    run* const first = next.top();
    next.pop();
    take(first->some[first->next++]);
    if (first->next != first->some.size() || fill(*first, of_run)) next.push(first);
  }
  runs_.clear();
}

void spilled_numbers::put(const std::uint64_t* numbers, std::size_t count) {
  pieces_.push_back({beyond_.write({{numbers, count * sizeof *numbers}}), count});
}

void spilled_numbers::visit(const std::function<void(const std::uint64_t* numbers, std::size_t count)>& take) const {
  std::vector<std::uint64_t> some;
  for (const piece& piece : pieces_)
    for (std::size_t done = 0; done != piece.count; done += some.size()) {
      some.resize(std::min(numbers_at_once, piece.count - done));
      beyond_.read(piece.at + done * sizeof(std::uint64_t), some.data(), some.size() * sizeof(std::uint64_t));
      take(some.data(), some.size());
    }
}

}  // namespace adaptyst::lib
