#include "event_log_scan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace adaptyst::lib {

namespace {

constexpr std::size_t log_spans_at_once = 2048;

}  // namespace

std::optional<time_span> take_logged_span(bad_rows& bad, const std::string& file, std::uint64_t at,
                                          const logged_event& event, std::int64_t shift_ns) {
  // A log may contain any numbers, and their sum may overflow.
  const auto limited = [](std::uint64_t ns) { return std::min(ns, 2 * max_time_ns); };
  const auto begin = static_cast<std::int64_t>(limited(event.begin_ns));
  return bad.take_span(begin, begin + static_cast<std::int64_t>(limited(event.duration_ns)),
                       {file, static_cast<std::int64_t>(at), "byte"}, max_span_ns, shift_ns);
}

event_log_scan::event_log_scan(const event_log_reader& from, scan_subject what)
    : from_(from), what_(what), blocks_(from.file()) {
  tables_.push_back({"events", {0, static_cast<std::int64_t>(from.end()) - 1}});
  roles_.reserve(from.sites().size());
  for (const traced_site& site : from.sites()) {
    roles_.push_back(choose_role(site.kind, what));
    directions_.push_back(find_direction(site.kind, site.name));
  }
}

std::uint64_t event_log_scan::find_block(std::int64_t from) {
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(0, from));
  const std::vector<std::uint64_t>& begins = from_.blocks();
  const auto above = std::upper_bound(begins.begin(), begins.end(), wanted);
  std::uint64_t at = above != begins.begin() ? *(above - 1) : blocks_.first();
  while (at < wanted && at < from_.end()) {
    const auto block = blocks_.find(at);
    if (!block) return from_.end();
    at = block->next();
  }
  return at;
}

std::uint64_t event_log_scan::scan(std::size_t /*table*/, std::int64_t first, std::int64_t last, const taker& to) {
  some_.clear();
  std::uint64_t events = 0;
  const auto take = [&](const logged_event& event, std::uint64_t at) {
    ++events;
    const auto site = static_cast<std::size_t>(event.site - 1);
    const bool is_span = event.as != traced_as::metric && event.as != traced_as::instant_event;
    if (!is_span || !roles_[site].is_wanted) return;
    const std::optional<time_span> times = take_logged_span(bad_, from_.file(), at, event);
    if (!times) return;
    const std::uint32_t group = what_ == scan_subject::device_work
                                    ? from_.physical(event.process, from_.sites()[site].device)
                                    : static_cast<std::uint32_t>(event.process);
    const std::uint64_t bytes = event.bytes != 0 ? event.bytes : scanned_span::unknown_bytes;
    some_.push_back(
        {*times, roles_[site].is_copy ? bytes : event.site, group, roles_[site].is_copy, directions_[site]});
    if (some_.size() < log_spans_at_once) return;
    to(some_.data(), some_.size());
    some_.clear();
  };
  const std::uint64_t begin = find_block(first);
  // The last byte of the range is inclusive, as a block may begin there.
  const std::uint64_t end = last < 0 ? 0 : std::min(static_cast<std::uint64_t>(last) + 1, from_.end());
  visit_events(blocks_, begin, end, from_.sites().size(), take);
  to(some_.data(), some_.size());
  return events;
}

bool event_log_scan::may_have_spans() const {
  return std::any_of(roles_.begin(), roles_.end(), [](const scan_role& role) { return role.is_wanted; });
}

std::optional<std::uint64_t> event_log_scan::start_near(std::size_t /*table*/, std::int64_t row) {
  for (std::uint64_t at = find_block(row); at < from_.end();) {
    const auto block = blocks_.find(at);
    if (!block) return std::nullopt;
    event_log_cursor records(from_.file(), *block, blocks_.read(*block));
    logged_event event;
    while (!records.is_at_end()) {
      const std::uint8_t first = records.byte();
      if (!is_event_or_place(first)) records.skip(static_cast<log_record>(first));
      else if (records.read_event(first, from_.sites().size(), event)) return event.begin_ns;
    }
    at = block->next();
  }
  return std::nullopt;
}

// The call path for a region; only the name for an operation.
std::string event_log_scan::name(std::uint64_t id) {
  if (id == 0 || id > from_.sites().size()) return fmt::format("path {}", id);
  const traced_site* site = &from_.sites()[static_cast<std::size_t>(id - 1)];
  std::string made = site->name;
  if (what_ != scan_subject::regions) return made;
  constexpr std::size_t max_depth = 64;
  std::size_t depth = 0;
  for (site = site->parent; site != nullptr && depth != max_depth; site = site->parent, ++depth)
    made.insert(0, site->name + "/");
  return made;
}

}  // namespace adaptyst::lib
