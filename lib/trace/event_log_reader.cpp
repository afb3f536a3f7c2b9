// Record by record, each checked before it is passed on: see docs/event-log.md.
#include "event_log_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>

#include "../support/error.hpp"
#include "../support/regular_file.hpp"
#include "../support/varint.hpp"
#include "event_log_format.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t max_version = 1'000'000;

}  // namespace

// Its bytes. Where they end within a record, is_cut() says so, and what was read since is 0.
class event_log_reader::source {
 public:
  explicit source(const std::string& name) : file_(name, "a trace", "name an event log"), name_(name) {}

  std::uint64_t offset() const noexcept { return before_ + at_; }
  bool is_cut() const noexcept { return is_cut_; }
  bool is_at_end() { return at_ == size_ && !fill(); }

  std::uint8_t byte() {
    if (at_ == size_ && !fill()) {
      is_cut_ = true;
      return 0;
    }
    return static_cast<std::uint8_t>(buffer_[at_++]);
  }

  std::uint64_t number() {
    std::uint64_t made = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      made |= std::uint64_t{next & 127U} << shift;
      if (next < 128) return made;
    }
    damaged("a number is too long");
  }

  std::uint32_t small_number() {
    const std::uint64_t made = number();
    if (made > UINT32_MAX) damaged("a number is too large");
    return static_cast<std::uint32_t>(made);
  }

  std::string text() {
    const std::uint64_t bytes = number();
    if (bytes > log_max_name) damaged("a name is too long");
    std::string made;
    while (made.size() != bytes && !is_at_end()) {
      const std::size_t some = std::min(static_cast<std::size_t>(bytes) - made.size(), size_ - at_);
      made.append(buffer_.data() + at_, some);
      at_ += some;
    }
    is_cut_ = is_cut_ || made.size() != bytes;
    return made;
  }

  double real() {
    char bytes[sizeof(double)];
    for (char& one : bytes) one = static_cast<char>(byte());
    double made;
    std::memcpy(&made, bytes, sizeof made);
    return made;
  }

  // The version, in the first line.
  std::uint64_t version() {
    for (const char expected : event_log_name)
      if (byte() != static_cast<std::uint8_t>(expected)) damaged("it does not begin as an event log");
    std::uint64_t made = 0;
    for (std::uint8_t next = byte(); next != '\n'; next = byte()) {
      if (next < '0' || next > '9' || made > max_version) damaged("its first line has no version");
      made = made * 10 + (next - std::uint8_t{'0'});
    }
    return made;
  }

  [[noreturn]] void damaged(const char* what) const {
    throw error(fmt::format("{} is damaged at byte {}: {}", name_, offset(), what), name_, 0,
                "it was written over, or copied in part; the program that it is of can write it again");
  }

 private:
  bool fill() {
    before_ += size_;
    at_ = 0;
    size_ = file_.read(before_, buffer_.data(), buffer_.size());
    return size_ != 0;
  }

  regular_file file_;
  std::string name_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 18U);
  std::size_t at_ = 0, size_ = 0;
  std::uint64_t before_ = 0;  // bytes of the file in front of the buffer
  bool is_cut_ = false;
};

bool event_log_reader::is_event_log(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  char first[event_log_name.size()];
  return in.read(first, sizeof first) && std::string_view(first, sizeof first) == event_log_name;
}

event_log_reader::event_log_reader(std::string file) : file_(std::move(file)) {
  walk names_only;
  go_through(names_only);
}

std::string event_log_reader::describe() const {
  return fmt::format("adaptyst event log, version {}", event_log_version);
}

std::vector<trace_input::device> event_log_reader::devices() const {
  std::map<std::uint32_t, device> made;
  for (const auto& [key, one] : devices_) made.try_emplace(one.physical, one);
  std::vector<device> list;
  list.reserve(made.size());
  for (auto& [number, one] : made) list.push_back(std::move(one));
  return list;
}

std::string event_log_reader::missing() const {
  std::string made;
  if (!is_complete_) made = fmt::format("{} was not finished: it ends before the run did", file_);
  std::uint64_t lost = 0;
  for (const auto& [key, events] : losses_) lost += events;
  if (lost != 0) made += fmt::format("{}{} events of {} were lost", made.empty() ? "" : "; ", lost, file_);
  return made;
}

std::unique_ptr<trace_scan> event_log_reader::scan(scan_subject /*what*/) const {
  throw error(fmt::format("{} is an event log, which is read from its begin to its end only", file_), file_, 0,
              fmt::format("adaptyst convert {} FILE.sqlite makes a store of it, which can be analysed", file_));
}

void event_log_reader::read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) {
  walk events{&to, shift_ns, &bad};
  go_through(events);
}

void event_log_reader::go_through(walk& now) {
  source from(file_);
  if (const std::uint64_t version = from.version(); version > event_log_version)
    throw error(fmt::format("{} has version {}; known are those up to {}", file_, version, event_log_version), file_, 0,
                "a later version of adaptyst reads it");
  is_complete_ = false;
  while (!from.is_at_end()) {
    const std::uint64_t at = from.offset();
    const std::uint8_t first = from.byte();
    if (first >= static_cast<std::uint8_t>(log_record::span)) read_event(from, first, at, now);
    else read_name(from, static_cast<log_record>(first), now);
  }
}

void event_log_reader::read_name(source& from, log_record what, walk& now) {
  switch (what) {
    case log_record::begin: utc_ns_ = static_cast<std::int64_t>(from.number()); return;
    case log_record::process: {
      const auto id = static_cast<std::int64_t>(from.number());
      traced_process one;
      one.number = static_cast<std::int64_t>(from.number());
      one.name = from.text();
      one.host = from.text();
      const std::string rank = from.text();
      std::uint32_t number = 0;
      const auto [end, failed] = std::from_chars(rank.data(), rank.data() + rank.size(), number);
      if (failed == std::errc{} && end == rank.data() + rank.size()) one.rank = number;
      if (from.is_cut()) return;
      if (now.to != nullptr) now.to->name_process(id, one);
      processes_[id] = std::move(one);
      return;
    }
    case log_record::thread: {
      const auto of = static_cast<std::int64_t>(from.number());
      const std::uint32_t id = from.small_number();
      const std::string name = from.text();
      if (!from.is_cut() && now.to != nullptr) now.to->name_thread(of, id, name);
      return;
    }
    case log_record::device: {
      const auto of = static_cast<std::int64_t>(from.number());
      const std::uint32_t id = from.small_number();
      device one;
      one.physical = from.small_number();
      one.uuid = from.text();
      one.name = from.text();
      if (from.is_cut()) return;
      if (now.to != nullptr) now.to->name_device(of, id, {one.name, one.physical, one.uuid});
      devices_[{of, id}] = std::move(one);
      return;
    }
    case log_record::site: read_site(from, now); return;
    case log_record::place:
      now.process = static_cast<std::int64_t>(from.number());
      now.thread = from.small_number();
      return;
    case log_record::loss: {
      const auto of = static_cast<std::int64_t>(from.number());
      const std::string reason = from.text();
      const std::uint64_t events = from.number();
      if (from.is_cut()) return;
      if (now.to != nullptr) now.to->add_loss(of, reason, events);
      losses_[{of, reason}] = events;
      return;
    }
    case log_record::end: is_complete_ = true; return;
    default: from.damaged("an unknown record");
  }
}

// Sites of an earlier walk stay where they are: who was given them may still ask for their names.
void event_log_reader::read_site(source& from, walk& now) {
  const std::uint64_t parent = from.number(), kind = from.number();
  traced_site made;
  made.device = from.small_number();
  made.name = from.text();
  if (from.is_cut()) return;
  if (parent > now.sites) from.damaged("a call path is below one that comes later");
  if (kind > static_cast<std::uint64_t>(region_kind::metric)) from.damaged("a call path of an unknown kind");
  if (now.sites++ != sites_.size()) return;
  made.kind = static_cast<region_kind>(kind);
  if (parent != 0) made.parent = &sites_[static_cast<std::size_t>(parent - 1)];
  sites_.push_back(std::move(made));
}

void event_log_reader::read_event(source& from, std::uint8_t first, std::uint64_t at, walk& now) {
  traced_event event;
  switch (static_cast<log_record>(first & ~log_has_all)) {
    case log_record::span: event.as = traced_as::scope; break;
    case log_record::handle: event.as = traced_as::handle; break;
    case log_record::operation: event.as = traced_as::operation; break;
    case log_record::metric: event.as = traced_as::metric; break;
    case log_record::mark: event.as = traced_as::mark; break;
    default: from.damaged("an unknown record");
  }
  const std::uint64_t site = from.number();
  const std::uint64_t begin_ns = now.begin_ns = undo_zigzag(now.begin_ns, from.number());
  std::uint64_t duration_ns = 0, submitted_ns = 0;
  if (event.as == traced_as::metric) event.value = from.real();
  else if (event.as != traced_as::mark) duration_ns = from.number();
  if (event.as == traced_as::operation) event.queue = from.number();
  if ((first & log_has_submission) != 0) submitted_ns = undo_zigzag(begin_ns, from.number());
  if ((first & log_has_correlation) != 0) event.correlation = from.number();
  if ((first & log_has_bytes) != 0) event.bytes = from.number();
  if (from.is_cut()) return;
  if (site == 0 || site > now.sites) from.damaged("an event at an unknown call path");
  if (now.to == nullptr) return;
  const bool is_in_range = begin_ns <= max_time_ns && duration_ns <= max_span_ns && submitted_ns <= max_time_ns &&
                           static_cast<std::int64_t>(begin_ns) + now.shift_ns >= 0;
  if (!is_in_range) {
    ++now.bad->out_of_range;
    now.bad->note(file_, static_cast<std::int64_t>(at),
                  fmt::format("{}, byte {}: begins at {} ns and lasts {} ns", file_, at, begin_ns, duration_ns));
    return;
  }
  event.site = &sites_[static_cast<std::size_t>(site - 1)];
  event.thread = now.thread;
  event.begin_ns = static_cast<std::uint64_t>(static_cast<std::int64_t>(begin_ns) + now.shift_ns);
  event.end_ns = event.begin_ns + duration_ns;
  if (submitted_ns != 0)
    event.submitted_ns =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(submitted_ns) + now.shift_ns));
  now.to->add(now.process, event);
}

}  // namespace adaptyst::lib
