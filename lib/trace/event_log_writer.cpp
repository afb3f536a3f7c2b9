// Appends records to a buffer, which is written when it is full and whenever the collector has emptied its rings: what a
// killed program leaves ends at some byte of a record, and all before that record counts.
#include "event_log_writer.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "../support/error.hpp"
#include "../support/launch_rank.hpp"
#include "../support/output_form.hpp"
#include "../support/varint.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t written_at_once = std::size_t{1} << 18U;
constexpr std::size_t max_named_threads = 65536;

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
    case traced_as::mark: return log_record::mark;
  }
  return log_record::mark;
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
  buffer_ = fmt::format("{}{}\n", event_log_name, event_log_version);
  put(log_record::begin);
  put(read_clock(CLOCK_REALTIME) - (read_clock(CLOCK_MONOTONIC) - origin_ns_));
}

void event_log_writer::put(std::uint64_t number) { append_varint(buffer_, number); }

void event_log_writer::put(const std::string& text) {
  const std::size_t bytes = std::min<std::size_t>(text.size(), log_max_name);
  put(bytes);
  buffer_.append(text, 0, bytes);
}

void event_log_writer::name_process(std::int64_t process, const traced_process& what) {
  put(log_record::process);
  put(static_cast<std::uint64_t>(process));
  put(static_cast<std::uint64_t>(what.number));
  put(what.name);
  // A collector observes its own machine.
  put(what.host.empty() ? expand("%h") : what.host);
  put(what.rank ? std::to_string(*what.rank) : launch_rank());
}

void event_log_writer::name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) {
  threads_.insert({process, thread});
  put(log_record::thread);
  put(static_cast<std::uint64_t>(process));
  put(thread);
  put(name);
}

bool event_log_writer::knows_thread(std::int64_t process, std::uint32_t thread) const {
  return threads_.size() == max_named_threads || threads_.count({process, thread}) != 0;
}

void event_log_writer::name_device(std::int64_t process, std::uint32_t device, const traced_device& what) {
  devices_.insert({process, device});
  put(log_record::device);
  put(static_cast<std::uint64_t>(process));
  put(device);
  put(what.physical);
  put(what.uuid);
  put(what.name);
}

bool event_log_writer::knows_device(std::int64_t process, std::uint32_t device) const {
  return devices_.count({process, device}) != 0;
}

// A site's parent comes first, so a chain of them ends.
std::uint64_t event_log_writer::find_site(const traced_site& site) {
  if (const auto known = sites_.find(&site); known != sites_.end()) return known->second;
  const std::uint64_t parent = site.parent != nullptr ? find_site(*site.parent) : 0;
  put(log_record::site);
  put(parent);
  put(static_cast<std::uint64_t>(site.kind));
  put(site.device);
  put(spelled_ ? spelled_(site.name) : site.name);
  return sites_.try_emplace(&site, sites_.size() + 1).first->second;
}

void event_log_writer::add(std::int64_t process, const traced_event& event) {
  ++buffered_;
  const std::uint64_t site = find_site(*event.site);
  if (process != process_ || event.thread != thread_) {
    put(log_record::place);
    put(static_cast<std::uint64_t>(process_ = process));
    put(thread_ = event.thread);
  }
  const bool is_operation = event.as == traced_as::operation;
  const bool has_submission = is_operation && event.submitted_ns != 0;
  auto first = static_cast<std::uint8_t>(choose_record(event.as));
  if (has_submission) first |= log_has_submission;
  if (event.correlation != 0) first |= log_has_correlation;
  if (event.bytes != 0) first |= log_has_bytes;
  buffer_ += static_cast<char>(first);
  put(site);
  const std::uint64_t begin_ns = since_origin(event.begin_ns);
  put(zigzag(begin_ns_, begin_ns));
  begin_ns_ = begin_ns;
  if (event.as == traced_as::metric) {
    char value[sizeof event.value];
    std::memcpy(value, &event.value, sizeof value);
    buffer_.append(value, sizeof value);
  } else if (event.as != traced_as::mark) put(since_origin(event.end_ns) - begin_ns);
  if (is_operation) put(event.queue);
  if (has_submission) put(zigzag(begin_ns, since_origin(event.submitted_ns)));
  if (event.correlation != 0) put(event.correlation);
  if (event.bytes != 0) put(event.bytes);
  if (buffer_.size() > written_at_once) write_out();
}

void event_log_writer::add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) {
  put(log_record::loss);
  put(static_cast<std::uint64_t>(process));
  put(reason);
  put(events);
}

void event_log_writer::write_out() noexcept {
  file_.write(buffer_);
  if (file_.failure() != 0) lost_ += buffered_;
  buffered_ = 0;
  buffer_.clear();
}

void event_log_writer::report_failure() {
  if (file_.failure() == 0 || std::exchange(has_reported_, true)) return;
  throw error(fmt::format("cannot write the timeline to {}", name_), name_, file_.failure(),
              "it ends there; the rest goes on");
}

void event_log_writer::flush() {
  if (buffered_ != 0) write_out();
  report_failure();
}

void event_log_writer::finish() {
  put(log_record::end);
  write_out();
  file_.finish();
  report_failure();
}

}  // namespace adaptyst::lib
