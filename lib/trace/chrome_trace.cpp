// Writes events as a Chrome trace, page by page, so that the file of a killed program is readable. Overlapping
// operations of a device get separate tracks.
#include "chrome_trace.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t buffered_bytes = std::size_t{1} << 20;
constexpr std::uint64_t page_bytes = 4096;
// Above these limits, threads get no name and operations no separate track: a program may have any number of them.
constexpr std::size_t max_threads = 65536;
constexpr std::size_t max_queue_tracks = 64;
constexpr std::size_t max_queues = 4096;  // of a device
// Process numbers are below this: 22 bits in the kernel, and 8 more for a trace of several.
constexpr std::int64_t beyond_all_processes = std::int64_t{1} << 30;

std::string as_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

chrome_trace::chrome_trace(std::string file, std::uint64_t origin_ns, kind_words words, name_speller spelled,
                           output_file::appears when)
    : name_(std::move(file)), origin_ns_(origin_ns), words_(words), spelled_(std::move(spelled)), file_(name_, when) {
  if (file_.failure() != 0)
    throw error(fmt::format("cannot write the timeline to {}", name_), name_, file_.failure(),
                "name another file with output=");
  buffer_ = "[";
}

void chrome_trace::begin_event() {
  end_event();
  if (buffer_.size() > buffered_bytes) write_out();
  event_at_ = buffer_.size();
  buffer_ += is_empty_ ? "\n" : ",\n";
  is_empty_ = false;
}

// A program that is killed during a write leaves whole pages, so no event may cross a page border.
void chrome_trace::end_event() {
  const std::uint64_t begin = written_bytes_ + event_at_;
  const std::uint64_t end = written_bytes_ + buffer_.size();
  if (end == begin || end - begin > page_bytes || begin / page_bytes == (end - 1) / page_bytes) return;
  buffer_.insert(event_at_, page_bytes - begin % page_bytes, ' ');
}

void chrome_trace::write_out() noexcept {
  const std::uint64_t events = std::exchange(buffered_, 0);
  written_bytes_ += file_.write(buffer_);
  if (file_.failure() != 0) lost_ += events;
  buffer_.clear();
  event_at_ = 0;
}

void chrome_trace::report_failure() {
  if (file_.failure() == 0 || std::exchange(has_reported_, true)) return;
  throw error(fmt::format("cannot write the timeline to {}", name_), name_, file_.failure(),
              "the timeline ends there; the program continues");
}

void chrome_trace::flush() {
  if (is_empty_) return;  // an older file stays until there is data to replace it
  end_event();
  write_out();
  report_failure();
}

void chrome_trace::finish() {
  end_event();
  event_at_ = buffer_.size();
  buffer_ += "\n]\n";
  write_out();
  file_.finish();
  report_failure();
}

std::string chrome_trace::format_time(std::uint64_t ns) const {
  const std::uint64_t since = ns > origin_ns_ ? ns - origin_ns_ : 0;
  return fmt::format("{}.{:03}", since / 1000, since % 1000);
}

const std::string& chrome_trace::quoted(const traced_site& site) {
  const auto [entry, is_new] = names_.try_emplace(&site);
  if (is_new) entry->second = as_json(spelled_ ? spelled_(site.name) : site.name);
  return entry->second;
}

void chrome_trace::write(std::string_view name, std::string_view kind, char phase, std::int64_t process,
                         std::uint32_t track, std::uint64_t time_ns) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"({{"name":{},"cat":"{}","ph":"{}","pid":{},"tid":{},"ts":{})", name,
                 kind, phase, process, track, format_time(time_ns));
}

// The colour of a site as an argument: the format's `cname` accepts names of its own palette only.
void chrome_trace::end_colored(const traced_site& site) {
  if (site.color != 0)
    fmt::format_to(std::back_inserter(buffer_), R"(,"args":{{"color":"{}"}})", to_color_text(site.color));
  buffer_ += '}';
}

void chrome_trace::write_metadata(const char* what, std::int64_t process, std::uint32_t track,
                                  const std::string& name) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})",
                 what, process, track, as_json(name));
}

std::int64_t chrome_trace::find_number(std::int64_t process) {
  if (process >= 0 && process < beyond_all_processes) return process;
  const auto [entry, is_new] = large_processes_.try_emplace(process);
  if (is_new) entry->second = beyond_all_processes + ++numbered_;
  return entry->second;
}

void chrome_trace::name_process(std::int64_t process, const traced_process& what) {
  write_metadata("process_name", find_number(process), 0, to_text(what));
}

void chrome_trace::name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) {
  threads_.insert({process, thread});
  write_metadata("thread_name", find_number(process), thread, name);
}

bool chrome_trace::knows_thread(std::int64_t process, std::uint32_t thread) const {
  return threads_.size() == max_threads || threads_.count({process, thread}) != 0;
}

void chrome_trace::name_device(std::int64_t process, std::uint32_t device, const traced_device& what) {
  device_tracks& made = devices_[{process, device}];
  made.process = beyond_all_processes + ++numbered_;
  write_metadata("process_name", made.process, 0, fmt::format("{} of process {}", what.name, process));
}

chrome_trace::device_tracks& chrome_trace::find_device(std::int64_t process, std::uint32_t device) {
  const auto entry = devices_.find({process, device});
  if (entry != devices_.end()) return entry->second;
  name_device(process, device, {fmt::format("device {}", device), device, {}});
  return devices_.at({process, device});
}

bool chrome_trace::needs_pair(std::int64_t process, const traced_event& scope) {
  const std::pair key{process, scope.thread};
  if (scopes_.size() == max_threads && scopes_.count(key) == 0) return false;
  return crossing_.needs_other_track(scopes_[key], scope);
}

bool chrome_trace::knows_device(std::int64_t process, std::uint32_t device) const {
  return devices_.count({process, device}) != 0;
}

std::uint32_t chrome_trace::track_for(device_tracks& device, const traced_event& operation) {
  // A host wait comes from a thread, not from a queue; 0 is also a queue.
  const bool is_offload = operation.as != traced_as::operation;
  const queue_key key{is_offload, is_offload ? operation.thread : operation.queue};
  if (device.queues.size() == max_queues && device.queues.count(key) == 0) return 0;
  const auto [entry, is_new] = device.queues.try_emplace(key);
  queue_tracks& queue = entry->second;
  if (is_new) queue.number = static_cast<std::uint32_t>(device.queues.size());
  for (auto& [track, end_ns] : queue.tracks) {
    if (end_ns > operation.begin_ns) continue;
    end_ns = operation.end_ns;
    return track;
  }
  if (queue.tracks.size() == max_queue_tracks) return 0;
  const std::uint32_t made = ++device.tracks;
  queue.tracks.emplace_back(made, operation.end_ns);
  std::string name =
      is_offload ? fmt::format("offloads of thread {}", operation.thread) : fmt::format("queue {}", queue.number);
  if (queue.tracks.size() != 1) name += fmt::format(" ({})", queue.tracks.size());
  write_metadata("thread_name", device.process, made, name);
  return made;
}

void chrome_trace::add_pair(std::string_view name, std::string_view kind, std::int64_t process, std::uint32_t track,
                            const traced_event& event) {
  const std::uint64_t pair = ++arrows_;
  write(name, kind, 'b', process, track, event.begin_ns);
  fmt::format_to(std::back_inserter(buffer_), R"(,"id":{})", pair);
  end_colored(*event.site);
  write(name, kind, 'e', process, track, event.end_ns);
  fmt::format_to(std::back_inserter(buffer_), R"(,"id":{}}})", pair);
}

void chrome_trace::add_operation(std::int64_t process, const traced_event& event) {
  device_tracks& device = find_device(process, event.site->device);
  const std::uint32_t track = track_for(device, event);
  const std::string& name = quoted(*event.site);
  const char* const kind = words_(event.site->kind);
  if (track == 0) return add_pair(name, kind, device.process, track, event);
  write(name, kind, 'X', device.process, track, event.begin_ns);
  fmt::format_to(std::back_inserter(buffer_), R"(,"dur":{}}})",
                 format_time(origin_ns_ + event.end_ns - event.begin_ns));
  if (event.submitted_ns == 0) return;
  const std::uint64_t arrow = ++arrows_;
  write(name, "submit", 's', find_number(process), event.thread, event.submitted_ns);
  fmt::format_to(std::back_inserter(buffer_), R"(,"id":{}}})", arrow);
  write(name, "submit", 'f', device.process, track, event.begin_ns);
  fmt::format_to(std::back_inserter(buffer_), R"(,"bp":"e","id":{}}})", arrow);
}

void chrome_trace::write_value(std::int64_t process, const traced_event& event) {
  write(quoted(*event.site), words_(event.site->kind), 'C', find_number(process), event.thread, event.begin_ns);
  fmt::format_to(std::back_inserter(buffer_), R"(,"args":{{"value":{}}}}})", event.value);
}

void chrome_trace::add_value(std::int64_t process, const traced_event& event) {
  if (!std::isfinite(event.value)) {  // JSON cannot represent such numbers
    --buffered_;
    ++lost_;
    return;
  }
  const auto [entry, is_new] = counters_.try_emplace({process, quoted(*event.site)}, counter{event, false});
  counter& series = entry->second;
  if (!series.is_written && (is_new || series.first.value == event.value)) {
    --buffered_;
    ++unchanged_;
    return;
  }
  if (!series.is_written) {
    series.is_written = true;
    write_value(process, series.first);
    ++buffered_;
    --unchanged_;
  }
  write_value(process, event);
}

void chrome_trace::add(std::int64_t process, const traced_event& event) {
  ++buffered_;
  const std::string& name = quoted(*event.site);
  const char* const kind = words_(event.site->kind);
  const std::int64_t number = find_number(process);
  switch (event.as) {
    case traced_as::operation: add_operation(process, event); return;
    case traced_as::scope:
      if (needs_pair(process, event)) {
        add_pair(name, kind, number, event.thread, event);
      } else {
        write(name, kind, 'X', number, event.thread, event.begin_ns);
        fmt::format_to(std::back_inserter(buffer_), R"(,"dur":{})",
                       format_time(origin_ns_ + event.end_ns - event.begin_ns));
        end_colored(*event.site);
      }
      if (event.site->device != 0) add_operation(process, event);  // an offload: the device is busy during it
      return;
    case traced_as::handle: add_pair(name, kind, number, event.thread, event); return;
    case traced_as::metric: add_value(process, event); return;
    case traced_as::instant_event:
      write(name, kind, 'i', number, event.thread, event.begin_ns);
      buffer_ += R"(,"s":"t")";
      end_colored(*event.site);
  }
}

}  // namespace adaptyst::lib
