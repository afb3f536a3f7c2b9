#include "region_journal.hpp"

#include <algorithm>
#include <iterator>

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_journal_threads = std::size_t{1} << 16;
constexpr std::size_t max_search_steps = 4096;  // more only if a program pretends that its scopes do not nest

}  // namespace

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
  std::vector<ended_scope>& ended = threads_[event.thread].ended;
  // The search needs the order of their ends. Corrections of a tick clock are within this time; else it is damage.
  constexpr std::uint64_t max_correction_ns = 10'000;
  const std::uint64_t end_ns = ended.empty() ? event.end_ns : std::max(event.end_ns, ended.back().end_ns);
  if (end_ns - event.end_ns > max_correction_ns) {
    missing_ns_ = std::max(missing_ns_, end_ns);
    return;
  }
  ended.push_back({event.begin_ns, end_ns, event.site->path});
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
    if (open.size() > max_search_steps) is_open_known_ = false;
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
  auto ended = std::upper_bound(of.ended.begin(), of.ended.end(), time_ns,
                                [](std::uint64_t time, const ended_scope& scope) { return time < scope.end_ns; });
  for (std::size_t steps = 0; ended != of.ended.end() && ended->begin_ns > time_ns; ++ended)
    if (++steps > max_search_steps) return std::nullopt;
  const ended_scope* innermost = ended != of.ended.end() ? &*ended : nullptr;
  for (const ended_scope& open : of.open)
    if (open.begin_ns <= time_ns && (innermost == nullptr || open.begin_ns > innermost->begin_ns)) innermost = &open;
  if (innermost == nullptr) return 0;
  return innermost->path != 0 ? std::optional(innermost->path) : std::nullopt;
}

void region_journal::forget(std::uint64_t until_ns) {
  missing_ns_ = std::max(missing_ns_, until_ns);
  for (auto entry = threads_.begin(); entry != threads_.end();) {
    std::vector<ended_scope>& ended = entry->second.ended;
    const auto end =
        std::find_if(ended.begin(), ended.end(), [&](const ended_scope& scope) { return scope.end_ns >= until_ns; });
    kept_ -= static_cast<std::size_t>(end - ended.begin());
    ended.erase(ended.begin(), end);
    entry = ended.empty() ? threads_.erase(entry) : std::next(entry);
  }
}

}  // namespace adaptyst::lib
