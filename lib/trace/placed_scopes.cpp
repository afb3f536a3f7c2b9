#include "placed_scopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "process_devices.hpp"

namespace adaptyst::lib {

namespace {

// The memory limit: with more ranges, no event is placed below ranges.
constexpr std::size_t max_held_ranges = 4'000'000;

}  // namespace

std::string unplaced_events::text(const std::string& file) const {
  std::string made = text_of_ranges(file);
  if (other_devices == 0) return made;
  return made + fmt::format("{}{} has more than {} devices: {} operations have the device (other devices)",
                            made.empty() ? "" : "; ", file, max_devices_in_file, other_devices);
}

std::string unplaced_events::text_of_ranges(const std::string& file) const {
  if (has_too_many_ranges)
    return fmt::format("{} has more than {} nested ranges: no event is placed below them", file, max_held_ranges);
  if (has_too_many_paths)
    return fmt::format("{} has too many call paths: further events have the path (other paths)", file);
  std::string remark;
  if (ranges == 0) {
    if (start_end == 0) return {};
    return fmt::format(
        "{}: {} ranges may begin and end on different threads: no call or operation is placed below them", file,
        start_end);
  }
  if (ambiguous != 0)
    remark = fmt::format(
        "{} of {} ranges are ambiguous: they partly overlap others of their thread, and are not placed below those",
        ambiguous, ranges);
  if (unattributed != 0)
    remark += fmt::format(
        "{}{} operations are unattributed: the calls that launched them are unknown, so they are below no range",
        remark.empty() ? "" : "; ", unattributed);
  return remark.empty() ? remark : fmt::format("{}: {}", file, remark);
}

void placed_scopes::add(std::int64_t process, const traced_event& event) {
  if (!to_.knows_thread(process, event.thread))
    to_.name_thread(process, event.thread, fmt::format("thread {}", event.thread));
  unplaced_.has_too_many_paths = sites_.has_too_many_paths();
  to_.add(process, event);
}

void placed_scopes::add_range(std::int64_t process, const traced_event& range) {
  if (!unplaced_.has_too_many_ranges && held_ == max_held_ranges) {
    unplaced_.has_too_many_ranges = true;
    add_held_flat();
  }
  if (unplaced_.has_too_many_ranges) return add(process, range);
  ++held_;
  thread_ranges& of = ranges_[{process, range.thread}];
  of.spans.push_back({range, 0, static_cast<std::uint32_t>(of.spans.size())});
  of.flat_sites.push_back(range.site);
}

placed_scopes::scope placed_scopes::make_range(const std::pair<std::int64_t, std::uint32_t>& thread,
                                               const contained_span& times, const traced_site* site) {
  scope made;
  made.process = thread.first;
  made.event.site = site;
  made.event.thread = thread.second;
  static_cast<time_span&>(made.event) = times;
  return made;
}

void placed_scopes::add_held_flat() {
  for (const auto& [thread, of] : ranges_)
    for (std::size_t i = 0; i != of.spans.size(); ++i)
      add(thread.first, make_range(thread, of.spans[i], of.flat_sites[i]).event);
  ranges_.clear();
}

void placed_scopes::place_ranges() {
  for (auto& [thread, of] : ranges_) {
    of.held = containment(std::move(of.spans));
    unplaced_.ranges += of.held.spans().size();
    unplaced_.ambiguous += of.held.ambiguous();
    for (std::size_t i = 0; i != of.held.spans().size(); ++i) {
      const traced_site& flat = *of.flat_sites[of.held.spans()[i].given];
      const std::uint32_t parent = of.held.parent(i);
      of.sites.push_back(parent == containment::none
                             ? &flat
                             : sites_.find(flat.name, flat.kind, flat.device, of.sites[parent], flat.color));
    }
    of.flat_sites = {};
  }
}

placed_scopes::source placed_scopes::list_ranges() const {
  using of_thread = decltype(ranges_)::const_iterator;
  std::vector<std::pair<of_thread, std::uint32_t>> all;
  for (auto of = ranges_.begin(); of != ranges_.end(); ++of)
    for (std::size_t i = 0; i != of->second.sites.size(); ++i) all.emplace_back(of, static_cast<std::uint32_t>(i));
  const auto times = [](const std::pair<of_thread, std::uint32_t>& range) -> const contained_span& {
    return range.first->second.held.spans()[range.second];
  };
  if (to_.needs_order())
    std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return std::tie(times(a).begin_ns, times(b).end_ns) < std::tie(times(b).begin_ns, times(a).end_ns);
    });
  return [all = std::move(all), times, at = std::size_t{0}](scope& made) mutable {
    if (at == all.size()) return false;
    const auto& [of, place] = all[at];
    made = make_range(of->first, times(all[at]), of->second.sites[place]);
    ++at;
    return true;
  };
}

void placed_scopes::add_all(const std::vector<source>& sources) {
  if (to_.needs_order()) return merge(sources);
  scope made;
  for (const source& next : sources)
    while (next(made)) add(made.process, made.event);
}

// Takes the source with the earliest begin next; of equal begins, the longer scope.
void placed_scopes::merge(const std::vector<source>& sources) {
  std::vector<scope> first(sources.size());
  const auto is_later = [&](std::size_t a, std::size_t b) {
    const traced_event &left = first[a].event, &right = first[b].event;
    return std::tie(left.begin_ns, right.end_ns, a) > std::tie(right.begin_ns, left.end_ns, b);
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_later)> waiting(is_later);
  for (std::size_t at = 0; at != sources.size(); ++at)
    if (sources[at](first[at])) waiting.push(at);
  while (!waiting.empty()) {
    const std::size_t at = waiting.top();
    waiting.pop();
    add(first[at].process, first[at].event);
    if (sources[at](first[at])) waiting.push(at);
  }
}

const traced_site* placed_scopes::find_region(std::int64_t process, const traced_event& call) const {
  const auto found = ranges_.find({process, call.thread});
  if (found == ranges_.end()) return nullptr;
  const std::uint32_t place = found->second.held.find(call.begin_ns, call.end_ns);
  return place == containment::none ? nullptr : found->second.sites[place];
}

const placed_scopes::call* placed_scopes::find_call(std::int64_t process, std::int64_t correlation) const {
  const auto found = calls_.find({process, correlation});
  return found != calls_.end() ? &found->second : nullptr;
}

const traced_site* placed_scopes::attribute(std::int64_t process, std::int64_t correlation, traced_event& operation) {
  const call* const by = correlation != 0 ? find_call(process, correlation) : nullptr;
  if (by == nullptr) {
    ++unplaced_.unattributed;
    return nullptr;
  }
  operation.submitted_ns = by->begin_ns;
  operation.thread = by->thread;
  return by->region;
}

}  // namespace adaptyst::lib
