// Reads names first, from blocks with names; then events, block by block or on request of an analysis.
#include "event_log_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../support/error.hpp"
#include "../support/levels.hpp"
#include "event_log_scan.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t between_known_blocks = std::uint64_t{1} << 20U;

}  // namespace

event_log_reader::event_log_reader(std::string file) : file_(std::move(file)) {
  event_log_blocks from(file_);
  version_ = from.version();
  end_ = from.first();
  while (const auto block = from.find(end_)) {
    if (blocks_.empty() || block->offset - blocks_.back() >= between_known_blocks) blocks_.push_back(block->offset);
    end_ = block->next();
    if (!block->has_names) continue;
    event_log_cursor records(file_, *block, from.read(*block));
    logged_event none;
    while (!records.is_at_end()) {
      const std::uint8_t first = records.byte();
      if (is_event_or_place(first)) records.read_event(first, sites_.size(), none);
      else read_name(records, static_cast<log_record>(first));
    }
  }
}

void event_log_reader::read_name(event_log_cursor& from, log_record what) {
  switch (what) {
    case log_record::begin: utc_ns_ = static_cast<std::int64_t>(from.number()); return;
    case log_record::process: {
      traced_process& process = processes_[static_cast<std::int64_t>(from.number())];
      process.number = static_cast<std::int64_t>(from.number());
      process.name = from.text();
      process.host = from.text();
      if (const std::uint32_t rank = from.small_number(); rank != 0) process.rank = rank - 1;
      return;
    }
    case log_record::thread: {
      const auto process = static_cast<std::int64_t>(from.number());
      const std::uint32_t thread = from.small_number();
      threads_[{process, thread}] = from.text();
      return;
    }
    case log_record::device: {
      const auto process = static_cast<std::int64_t>(from.number());
      device& device = devices_.add(process, from.small_number());
      device.physical = from.small_number();
      device.uuid = from.text();
      device.name = from.text();
      return;
    }
    case log_record::site: return read_site(from);
    case log_record::color: {
      const std::uint64_t site = from.number();
      const std::uint32_t color = from.small_number();
      if (site == 0 || site > sites_.size()) from.damaged("a colour of an unknown call path");
      sites_[static_cast<std::size_t>(site - 1)].color = (color & 0xFFFFFF) | 0xFF000000U;
      return;
    }
    case log_record::level: {
      const std::uint64_t site = from.number(), number = from.number();
      if (site == 0 || site > sites_.size()) from.damaged("a level of an unknown call path");
      sites_[static_cast<std::size_t>(site - 1)].level = to_level(number);
      return;
    }
    case log_record::loss: {
      const auto process = static_cast<std::int64_t>(from.number());
      const std::string reason = from.text();
      losses_[{process, reason}] = from.number();
      return;
    }
    case log_record::end: is_complete_ = true; return;
    default: from.damaged("an unknown record");
  }
}

void event_log_reader::read_site(event_log_cursor& from) {
  const std::uint64_t parent = from.number(), kind = from.number();
  if (parent > sites_.size()) from.damaged("a call path is below one that comes later");
  if (kind > static_cast<std::uint64_t>(region_kind::metric)) from.damaged("a call path of an unknown kind");
  traced_site made;
  made.kind = static_cast<region_kind>(kind);
  if (parent != 0) made.parent = &sites_[static_cast<std::size_t>(parent - 1)];
  made.device = from.small_number();
  made.name = from.text();
  sites_.push_back(std::move(made));
}

std::string event_log_reader::describe() const { return fmt::format("adaptyst event log, version {}", version_); }

std::string event_log_reader::missing() const {
  std::string made;
  if (!is_complete_) made = fmt::format("{} was not finished: it ends before the run did", file_);
  std::uint64_t lost = 0;
  for (const auto& [key, events] : losses_) lost += events;
  if (lost != 0) made += fmt::format("{}{} events of {} were lost", made.empty() ? "" : "; ", lost, file_);
  return made;
}

std::unique_ptr<trace_scan> event_log_reader::scan(scan_subject what) const {
  return std::make_unique<event_log_scan>(*this, what);
}

void event_log_reader::read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const {
  std::vector<std::optional<host_call_kind>> kinds;
  kinds.reserve(sites_.size());
  for (const traced_site& site : sites_) kinds.push_back(choose_call_kind(site));
  event_log_blocks from(file_);
  visit_events(from, from.first(), end_, sites_.size(), [&](const logged_event& event, std::uint64_t at) {
    const std::optional<host_call_kind> kind = kinds[static_cast<std::size_t>(event.site - 1)];
    const bool is_span = event.as == traced_as::scope || event.as == traced_as::handle;
    if (!kind || !is_span) return;
    if (const std::optional<time_span> times = take_logged_span(bad, file_, at, event))
      to({*times, event.process, event.thread, *kind});
  });
}

void event_log_reader::read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) {
  for (const auto& [id, process] : processes_) to.name_process(id, process);
  for (const auto& [key, name] : threads_) to.name_thread(key.first, key.second, name);
  devices_.name(to);

  const auto take = [&](const logged_event& logged, std::uint64_t at) {
    traced_event event;
    event.as = logged.as;
    event.site = &sites_[static_cast<std::size_t>(logged.site - 1)];
    event.thread = logged.thread;
    event.queue = logged.queue;
    event.value = logged.value;
    event.correlation = logged.correlation;
    event.bytes = logged.bytes;
    const std::optional<time_span> times = take_logged_span(bad, file_, at, logged, shift_ns);
    if (!times) return;
    static_cast<time_span&>(event) = *times;
    // An impossible time of submission counts as unknown.
    if (logged.submitted_ns != 0 && logged.submitted_ns <= max_time_ns)
      event.submitted_ns = static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, static_cast<std::int64_t>(logged.submitted_ns) + shift_ns));
    to.add(logged.process, event);
  };
  event_log_blocks from(file_);
  visit_events(from, from.first(), end_, sites_.size(), take);
  for (const auto& [key, events] : losses_) to.add_loss(key.first, key.second, events);
}

}  // namespace adaptyst::lib
