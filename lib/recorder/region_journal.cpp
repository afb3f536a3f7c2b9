#include "region_journal.hpp"

#include <algorithm>
#include <iterator>

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_journal_threads = std::size_t{1} << 16;
constexpr std::size_t max_open_scopes = 4096;  // of a thread; more are damage
// A search visits the scopes of two blocks, and skips the blocks between them.
constexpr std::size_t scopes_of_block = 1024;

}  // namespace

void region_journal::thread_scopes::note_begin(std::size_t at) {
  if (at % scopes_of_block == 0) begins.push_back(ended[at].begin_ns);
  else begins.back() = std::min(begins.back(), ended[at].begin_ns);
}

void region_journal::begin(trace_reader& reader, const process_state& state, const std::set<std::uint32_t>& threads) {
  begun_ns_ = detail::monotonic_ns();
  open_.clear();
  for (const std::uint32_t thread : threads) open_[thread];
  is_open_known_ = threads.empty() || reader.read_open(state, open_);
}

void region_journal::add(const traced_event& event) {
  if (event.as != traced_as::scope) return;
  if (kept_ >= max_kept_ || (threads_.size() == max_journal_threads && threads_.count(event.thread) == 0)) {
    missing_ns_ = std::max(missing_ns_, event.end_ns);
    return;
  }
  thread_scopes& of = threads_[event.thread];
  std::vector<ended_scope>& ended = of.ended;
  // The search needs the order of their ends. Corrections of a tick clock are within this time; else it is damage.
  constexpr std::uint64_t max_correction_ns = 10'000;
  const std::uint64_t end_ns = ended.empty() ? event.end_ns : std::max(event.end_ns, ended.back().end_ns);
  if (end_ns - event.end_ns > max_correction_ns) {
    missing_ns_ = std::max(missing_ns_, end_ns);
    return;
  }
  ended.push_back({event.begin_ns, end_ns, event.site->path});
  of.note_begin(ended.size() - 1);
  ++kept_;
}

void region_journal::end(const trace_reader& reader, bool is_complete) {
  const std::uint64_t waiting = reader.waiting(), lost = reader.lost() - waiting;
  is_behind_ = waiting != 0 || !is_complete;
  if (lost != lost_) missing_ns_ = detail::monotonic_ns();
  lost_ = lost;
  for (auto& [thread, of] : threads_) of.open.clear();
  for (const auto& [thread, open] : open_) {
    if (open.empty()) continue;
    if (open.size() > max_open_scopes) is_open_known_ = false;
    std::vector<ended_scope>& to = threads_[thread].open;
    for (const trace_reader::open_scope& scope : open) to.push_back({reader.to_our_clock(scope.begin), 0, scope.path});
  }
}

std::optional<std::uint64_t> region_journal::find(std::uint32_t thread, std::uint64_t time_ns) const {
  if (time_ns < missing_ns_ || !is_open_known_) return std::nullopt;
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return 0;
  const thread_scopes& of = found->second;
  // Scopes nest, so the first to end after this time that had begun is the innermost of the ended ones.
  const auto ended = std::upper_bound(of.ended.begin(), of.ended.end(), time_ns,
                                      [](std::uint64_t time, const ended_scope& scope) { return time < scope.end_ns; });
  auto at = static_cast<std::size_t>(ended - of.ended.begin());
  while (at < of.ended.size() && of.ended[at].begin_ns > time_ns)
    for (++at; at < of.ended.size() && at % scopes_of_block == 0 && of.begins[at / scopes_of_block] > time_ns;)
      at += scopes_of_block;
  const ended_scope* innermost = at < of.ended.size() ? &of.ended[at] : nullptr;
  for (const ended_scope& open : of.open)
    if (open.begin_ns <= time_ns && (innermost == nullptr || open.begin_ns > innermost->begin_ns)) innermost = &open;
  if (innermost == nullptr) return 0;
  return innermost->path != 0 ? std::optional(innermost->path) : std::nullopt;
}

void region_journal::forget(std::uint64_t until_ns) {
  constexpr std::size_t part = 4;  // fewer than a quarter are not removed: moving the others would take longer
  missing_ns_ = std::max(missing_ns_, until_ns);
  for (auto entry = threads_.begin(); entry != threads_.end();) {
    thread_scopes& of = entry->second;
    const auto end = std::partition_point(of.ended.begin(), of.ended.end(),
                                          [&](const ended_scope& scope) { return scope.end_ns < until_ns; });
    const auto number = static_cast<std::size_t>(end - of.ended.begin());
    if (number * part >= of.ended.size()) {
      kept_ -= number;
      of.ended.erase(of.ended.begin(), end);
      if (of.ended.capacity() > part * (of.ended.size() + scopes_of_block)) of.ended.shrink_to_fit();
      of.begins.clear();
      for (std::size_t at = 0; at != of.ended.size(); ++at) of.note_begin(at);
    }
    entry = of.ended.empty() ? threads_.erase(entry) : std::next(entry);
  }
}

}  // namespace adaptyst::lib
