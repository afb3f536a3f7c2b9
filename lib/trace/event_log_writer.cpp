// Appends records to a block and writes the block when it is full, and whenever the collector has emptied its rings.
// Only the last block of a killed program may be incomplete.
#include "event_log_writer.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "../support/error.hpp"
#include "../support/varint.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_named_threads = 65536;
// An event with its place: two first bytes, ten numbers.
constexpr std::size_t max_event_bytes = 2 + 10 * max_varint_bytes;

std::uint64_t read_clock(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

log_record choose_record(traced_as as) {
  switch (as) {
    case traced_as::scope: return log_record::span;
    case traced_as::handle: return log_record::handle;
    case traced_as::operation: return log_record::operation;
    case traced_as::metric: return log_record::metric;
    case traced_as::instant_event: return log_record::instant_event;
  }
  return log_record::instant_event;
}

}  // namespace

event_log_writer::event_log_writer(std::string file, std::uint64_t origin_ns, name_speller spelled)
    : name_(std::move(file)),
      origin_ns_(origin_ns),
      spelled_(std::move(spelled)),
      file_(name_, output_file::appears::with_text) {
  if (file_.failure() != 0)
    throw error(fmt::format("cannot write the timeline to {}", name_), name_, file_.failure(),
                "name another file with output=");
  file_.write(fmt::format("{}{}\n", event_log_name, event_log_version));
  begin_block();
  begin_record(log_record::begin);
  put(read_clock(CLOCK_REALTIME) - (read_clock(CLOCK_MONOTONIC) - origin_ns_));
}

void event_log_writer::begin_block() {
  block_.assign(sizeof(log_block_head), '\0');
  has_names_ = false;
  has_place_ = false;
  begin_ns_ = 0;
  events_ = 0;
}

void event_log_writer::end_block() {
  if (block_.size() > sizeof(log_block_head)) {
    const auto bytes = static_cast<std::uint32_t>(block_.size() - sizeof(log_block_head));
    log_block_head head{0, bytes | (has_names_ ? log_has_names : 0)};
    std::memcpy(block_.data(), &head, sizeof head);
    head.checksum = block_checksum(std::string_view(block_).substr(log_checksum_bytes));
    std::memcpy(block_.data(), &head, log_checksum_bytes);
    written_bytes_ += file_.write(block_);
    if (file_.failure() != 0) lost_ += events_;
  }
  begin_block();
}

void event_log_writer::begin_record(log_record what) {
  if (block_.size() >= log_block_bytes) end_block();
  block_ += static_cast<char>(what);
  has_names_ = true;
}

void event_log_writer::put(std::uint64_t number) { append_varint(block_, number); }

void event_log_writer::put(std::string_view text) {
  text = text.substr(0, log_max_text);
  put(text.size());
  block_ += text;
}

void event_log_writer::name_process(std::int64_t process, const traced_process& what) {
  begin_record(log_record::process);
  put(static_cast<std::uint64_t>(process));
  put(static_cast<std::uint64_t>(what.number));
  put(what.name);
  put(what.host);
  put(what.rank ? std::uint64_t{*what.rank} + 1 : 0);
}

void event_log_writer::name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) {
  threads_.insert({process, thread});
  begin_record(log_record::thread);
  put(static_cast<std::uint64_t>(process));
  put(thread);
  put(name);
}

bool event_log_writer::knows_thread(std::int64_t process, std::uint32_t thread) const {
  return threads_.size() == max_named_threads || threads_.count({process, thread}) != 0;
}

void event_log_writer::name_device(std::int64_t process, std::uint32_t device, const traced_device& what) {
  devices_.insert({process, device});
  begin_record(log_record::device);
  put(static_cast<std::uint64_t>(process));
  put(device);
  put(what.physical);
  put(what.uuid);
  put(what.name);
}

bool event_log_writer::knows_device(std::int64_t process, std::uint32_t device) const {
  return devices_.count({process, device}) != 0;
}

// A parent precedes its children, so a chain of parents ends.
std::uint64_t event_log_writer::find_site(const traced_site& site) {
  if (const auto entry = sites_.find(&site); entry != sites_.end()) return entry->second;
  const std::uint64_t parent = site.parent != nullptr ? find_site(*site.parent) : 0;
  begin_record(log_record::site);
  put(parent);
  put(static_cast<std::uint64_t>(site.kind));
  put(site.device);
  put(spelled_ ? spelled_(site.name) : site.name);
  const std::uint64_t number = sites_.try_emplace(&site, sites_.size() + 1).first->second;
  if (site.color != 0) {
    begin_record(log_record::color);
    put(number);
    put(std::uint64_t{site.color & 0xFFFFFF});
  }
  if (site.level) {
    begin_record(log_record::level);
    put(number);
    put(static_cast<std::uint64_t>(*site.level));
  }
  return number;
}

void event_log_writer::add(std::int64_t process, const traced_event& event) {
  const std::uint64_t site = find_site(*event.site);
  if (block_.size() >= log_block_bytes) end_block();
  ++events_;
  char bytes[max_event_bytes];
  char* to = bytes;
  if (!has_place_ || process != process_ || event.thread != thread_) {
    has_place_ = true;
    *to++ = static_cast<char>(log_record::place);
    to = write_varint(to, static_cast<std::uint64_t>(process_ = process));
    to = write_varint(to, thread_ = event.thread);
  }
  const bool is_operation = event.as == traced_as::operation;
  const bool has_submission = is_operation && event.submitted_ns != 0;
  auto first = static_cast<std::uint8_t>(choose_record(event.as));
  if (has_submission) first |= log_has_submission;
  if (event.correlation != 0) first |= log_has_correlation;
  if (event.bytes != 0) first |= log_has_bytes;
  *to++ = static_cast<char>(first);
  to = write_varint(to, site);
  const std::uint64_t begin_ns = since_origin(event.begin_ns);
  to = write_varint(to, zigzag(begin_ns_, begin_ns));
  begin_ns_ = begin_ns;
  if (event.as == traced_as::metric) {
    std::memcpy(to, &event.value, sizeof event.value);
    to += sizeof event.value;
  } else if (event.as != traced_as::instant_event) to = write_varint(to, since_origin(event.end_ns) - begin_ns);
  if (is_operation) to = write_varint(to, event.queue);
  if (has_submission) to = write_varint(to, zigzag(begin_ns, since_origin(event.submitted_ns)));
  if (event.correlation != 0) to = write_varint(to, event.correlation);
  if (event.bytes != 0) to = write_varint(to, event.bytes);
  block_.append(bytes, static_cast<std::size_t>(to - bytes));
}

void event_log_writer::add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) {
  begin_record(log_record::loss);
  put(static_cast<std::uint64_t>(process));
  put(reason);
  put(events);
}

void event_log_writer::report_failure() {
  if (file_.failure() == 0 || std::exchange(has_reported_, true)) return;
  throw error(fmt::format("cannot write the timeline to {}", name_), name_, file_.failure(),
              "the timeline ends there; the program continues");
}

void event_log_writer::flush() {
  end_block();
  report_failure();
}

void event_log_writer::finish() {
  begin_record(log_record::end);
  end_block();
  file_.finish();
  report_failure();
}

}  // namespace adaptyst::lib
