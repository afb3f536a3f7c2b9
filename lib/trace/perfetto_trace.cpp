// Writes packets of Perfetto's form by hand: a packet is a few numbers of variable length, and protobuf's library would
// allocate each. Field numbers are those of Perfetto's published trace format.
#include "perfetto_trace.hpp"

#include <fmt/format.h>
#include <time.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "../support/error.hpp"
#include "../support/varint.hpp"
#include "perfetto_archive.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t packet_buffer_bytes = std::size_t{1} << 20;
constexpr std::uint64_t packet_page_bytes = 4096;
// Above these limits, spans get tracks that are not kept: a program may have any number of threads and queues.
constexpr std::size_t max_thread_tracks = 65536;
constexpr std::size_t max_overlapping_tracks = 64;  // of a queue, or of the overlapping scopes of a thread
constexpr std::size_t max_queue_groups = 4096;
constexpr std::size_t max_counters = 65536;
// Numbers below 128 take one byte.
constexpr std::uint32_t max_sequences = 127;
constexpr std::size_t max_name_bytes = 4000;  // a packet is within a page
constexpr std::size_t max_message_channels = std::size_t{1} << 20;
constexpr std::size_t max_message_ends = std::size_t{1} << 22;  // 48 bytes each
constexpr std::int32_t first_replaced_process = std::int32_t{1} << 30;

namespace field {
using namespace perfetto_field;
// Fields of a packet.
constexpr unsigned timestamp = 8, sequence = 10, track_event = 11, interned = 12, flags = 13, timestamp_clock = 58,
                   defaults = 59;
constexpr unsigned event_defaults = 11;  // of `defaults`
constexpr unsigned primary_clock = 2;    // of a clock snapshot
// Fields of a track, a process, a thread.
constexpr unsigned track = 1, track_name = 2, thread = 4, parent = 5, counter = 8;
constexpr unsigned pid = 1, process_name = 6, tid = 2, thread_name = 5;
// Fields of interned data, and of an entry.
constexpr unsigned categories = 1, names = 2, annotation_names = 3, entry_id = 1, entry_text = 2;
// Fields of an event.
constexpr unsigned event_category = 3, annotation = 4, event_type = 9, event_name = 10, event_track = 11,
                   real_value = 44, flow = 47, ending_flow = 48;
// Fields of an annotation.
constexpr unsigned annotation_name = 1, annotation_unsigned = 3, annotation_text = 6;
}  // namespace field

enum event_type : unsigned { slice_begin = 1, slice_end = 2, instant = 3, counter_value = 4 };
enum annotation_number : unsigned { note_bytes = 1, note_correlation = 2, note_color = 3, note_peer = 4, note_tag = 5 };
constexpr unsigned state_is_cleared = 1;  // the flag of the first packet of a sequence
constexpr unsigned clock_of_trace = 64;   // the first number that a sequence may define

constexpr unsigned varint_wire = 0, fixed_wire = 1, bytes_wire = 2;

// Writes fields to memory that is large enough.
class short_message {
 public:
  explicit short_message(char* to) noexcept : end_(to) {}

  void put(unsigned number, std::uint64_t value) noexcept {
    end_ = write_varint(write_varint(end_, number << 3U | varint_wire), value);
  }
  void put_fixed(unsigned number, std::uint64_t value) noexcept {
    end_ = write_varint(end_, number << 3U | fixed_wire);
    for (int byte = 0; byte != 8; ++byte) *end_++ = static_cast<char>(value >> (8 * byte) & 0xFFU);
  }
  void put(unsigned number, std::string_view text) noexcept {
    end_ = write_varint(write_varint(end_, number << 3U | bytes_wire), text.size());
    std::memcpy(end_, text.data(), text.size());
    end_ += text.size();
  }
  // A message of less than 128 bytes.
  char* begin(unsigned number) noexcept {
    *end_++ = static_cast<char>(number << 3U | bytes_wire);
    return end_++;
  }
  void end(char* length) noexcept { *length = static_cast<char>(end_ - length - 1); }
  char* end() const noexcept { return end_; }

 private:
  char* end_;
};

void put(std::string& to, unsigned number, std::uint64_t value) {
  append_varint(to, number << 3U | varint_wire);
  append_varint(to, value);
}

void put(std::string& to, unsigned number, std::string_view content) {
  append_varint(to, number << 3U | bytes_wire);
  append_varint(to, content.size());
  to += content;
}

// Text as the format wants it: valid UTF-8 of limited length.
std::string make_packet_text(std::string_view text) { return valid_utf8(text.substr(0, max_name_bytes / 3)); }

std::string make_interned(std::uint64_t number, std::string_view text) {
  std::string made;
  put(made, field::entry_id, number);
  put(made, field::entry_text, text);
  return made;
}

std::uint64_t clock_now(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Annotations of a span, at most 73 bytes: the length of an event has one byte (add_slice).
void put_notes(short_message& to, const traced_event& event, const traced_message* message) {
  const auto put = [&](annotation_number number, unsigned as, auto value) {
    char* const length = to.begin(field::annotation);
    to.put(field::annotation_name, number);
    to.put(as, value);
    to.end(length);
  };
  if (event.bytes != 0) put(note_bytes, field::annotation_unsigned, event.bytes);
  if (event.correlation != 0) put(note_correlation, field::annotation_unsigned, event.correlation);
  // A rank or a tag may be 0.
  if (message != nullptr && message->peer) put(note_peer, field::annotation_unsigned, *message->peer);
  if (message != nullptr && message->tag) put(note_tag, field::annotation_unsigned, *message->tag);
  if (event.site->color != 0) put(note_color, field::annotation_text, to_color_text(event.site->color));
}

}  // namespace

perfetto_trace::clocks perfetto_trace::read_clocks(std::uint64_t origin_ns) {
  const std::uint64_t since = clock_now(CLOCK_MONOTONIC) - origin_ns;
  return {origin_ns, clock_now(CLOCK_BOOTTIME) - since, clock_now(CLOCK_REALTIME) - since};
}

perfetto_trace::perfetto_trace(std::string file, const clocks& at_origin, name_speller spelled,
                               output_file::appears when)
    : name_(std::move(file)), at_origin_(at_origin), spelled_(std::move(spelled)), file_(name_, when) {
  if (file_.failure() != 0)
    throw error(fmt::format("cannot write the timeline to {}", name_), name_, file_.failure(),
                "name another file with output=");
  common_ = &begin_sequence(0);
  submit_ = {1, "submit"};
}

// A program that is killed during a write leaves whole pages, so no packet may cross a page border. The rest of a page
// is filled with empty packets, of two or three bytes: a rest of one byte must not arise.
void perfetto_trace::append(const char* bytes, std::size_t size) {
  if (buffer_.size() > packet_buffer_bytes) write_out();
  const std::uint64_t left = packet_page_bytes - (written_bytes_ + buffer_.size()) % packet_page_bytes;
  if ((size > left || left - size == 1) && left != 1 && size < packet_page_bytes - 1) {
    std::uint64_t fill = left;
    if (fill % 2 != 0) {
      buffer_.append("\x0A\x80\x00", 3);
      fill -= 3;
    }
    for (; fill != 0; fill -= 2) buffer_.append("\x0A\x00", 2);
  }
  buffer_.append(bytes, size);
}

void perfetto_trace::append_packet(std::string_view content) {
  std::string packet;
  put(packet, field::packet, content);
  append(packet.data(), packet.size());
}

void perfetto_trace::write_out() noexcept {
  const std::uint64_t events = std::exchange(buffered_, 0);
  written_bytes_ += file_.write(buffer_);
  if (file_.failure() != 0) lost_ += events;
  buffer_.clear();
}

void perfetto_trace::report_failure() {
  if (file_.failure() == 0 || std::exchange(has_reported_, true)) return;
  throw error(fmt::format("cannot write the timeline to {}", name_), name_, file_.failure(),
              "the timeline ends there; the program continues");
}

void perfetto_trace::flush() {
  if (written_bytes_ == 0 && buffered_ == 0) return;  // an older file stays until there is data to replace it
  write_out();
  report_failure();
}

void perfetto_trace::finish() {
  write_arrows();
  write_out();
  file_.finish();
  report_failure();
}

// The first packet of a sequence: its defaults, and the clock of its times.
perfetto_trace::sequence& perfetto_trace::begin_sequence(std::uint64_t default_track) {
  sequence& made = sequences_.emplace_back();
  made.id = static_cast<std::uint32_t>(sequences_.size());
  made.track = default_track;
  std::string packet, defaults, snapshot;
  const auto put_clock = [&](unsigned number, std::uint64_t ns) {
    std::string clock;
    put(clock, field::clock_id, number);
    put(clock, field::clock_time, ns);
    put(snapshot, field::clock, clock);
  };
  const bool has_clock = at_origin_.boottime_ns || at_origin_.realtime_ns;
  if (has_clock) {
    put(defaults, field::timestamp_clock, clock_of_trace);
    put_clock(clock_of_trace, 0);
    if (at_origin_.boottime_ns) put_clock(perfetto_clock::boottime, *at_origin_.boottime_ns);
    if (at_origin_.realtime_ns) put_clock(perfetto_clock::realtime, *at_origin_.realtime_ns);
    if (at_origin_.boottime_ns) put_clock(perfetto_clock::monotonic, at_origin_.monotonic_ns);
    put(snapshot, field::primary_clock, at_origin_.boottime_ns ? perfetto_clock::boottime : perfetto_clock::realtime);
  }
  if (default_track != 0) {
    std::string event;
    put(event, field::event_track, default_track);
    put(defaults, field::event_defaults, event);
  }
  put(packet, field::sequence, made.id);
  put(packet, field::flags, state_is_cleared);
  put(packet, field::defaults, defaults);
  if (has_clock) put(packet, field::clock_snapshot, snapshot);
  append_packet(packet);
  return made;
}

perfetto_trace::track perfetto_trace::make_track(std::uint64_t parent, const std::string& name, bool is_frequent) {
  track made{++last_track_, common_};
  std::string packet, descriptor;
  put(descriptor, field::track, made.id);
  if (parent != 0) put(descriptor, field::parent, parent);
  put(descriptor, field::track_name, make_packet_text(name));
  put(packet, field::track_descriptor, descriptor);
  put(packet, field::sequence, common_->id);
  append_packet(packet);
  if (is_frequent && sequences_.size() < max_sequences) made.in = &begin_sequence(made.id);
  return made;
}

// Viewers join tracks of one name below one parent.
perfetto_trace::track& perfetto_trace::find_track(track_group& in, const time_span& span) {
  for (track& listed : in.tracks) {
    if (listed.end_ns > span.begin_ns) continue;
    listed.end_ns = span.end_ns;
    return listed;
  }
  if (in.tracks.size() == max_overlapping_tracks) {
    other_ = make_track(in.parent, in.name, false);
    return other_;
  }
  in.tracks.push_back(make_track(in.parent, in.name, in.tracks.empty()));
  in.tracks.back().end_ns = span.end_ns;
  return in.tracks.back();
}

void perfetto_trace::describe_process(const process_track& what, const std::string& name, const std::string& host) {
  std::string packet, descriptor, process;
  put(process, field::pid, static_cast<std::uint64_t>(what.number));
  put(process, field::process_name, make_packet_text(name));
  if (!host.empty()) put(process, field::process_label, make_packet_text(perfetto_host_label + host));
  put(descriptor, field::track, what.track);
  put(descriptor, field::process, process);
  put(packet, field::track_descriptor, descriptor);
  put(packet, field::sequence, common_->id);
  append_packet(packet);
}

// The format has 32 bits for the number of a process. Readers take process 0 and thread 0 for those of the kernel.
perfetto_trace::process_track& perfetto_trace::find_process(std::int64_t process, const std::string& name,
                                                            const std::string& host) {
  const auto [entry, is_new] = processes_.try_emplace(process);
  if (!is_new) return entry->second;
  const bool is_small = process > 0 && process < first_replaced_process;
  entry->second.track = ++last_track_;
  entry->second.number = is_small ? static_cast<std::int32_t>(process) : first_replaced_process + ++large_processes_;
  describe_process(entry->second, name.empty() ? fmt::format("process {}", process) : name, host);
  return entry->second;
}

void perfetto_trace::name_process(std::int64_t process, const traced_process& what) {
  const std::string name = to_text(what);
  if (what.rank) ranks_[process] = *what.rank;
  if (const auto found = processes_.find(process); found != processes_.end())
    describe_process(found->second, name, what.host);
  else find_process(process, name, what.host);
}

void perfetto_trace::describe_thread(std::int64_t process, std::uint32_t thread, std::uint64_t track,
                                     const std::string& name) {
  std::string packet, descriptor, about;
  put(about, field::pid, static_cast<std::uint64_t>(find_process(process).number));
  put(about, field::tid, thread != 0 ? std::uint64_t{thread} : std::uint64_t{first_replaced_process});
  put(about, field::thread_name, make_packet_text(name));
  put(descriptor, field::track, track);
  put(descriptor, field::thread, about);
  put(packet, field::track_descriptor, descriptor);
  put(packet, field::sequence, common_->id);
  append_packet(packet);
}

void perfetto_trace::name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) {
  if (named_threads_.size() == max_thread_tracks) return;
  named_threads_.insert({process, thread});
  const auto found = threads_.find({process, thread});
  if (found != threads_.end()) describe_thread(process, thread, found->second.own.id, name);
  else find_thread(process, thread, name);
}

bool perfetto_trace::knows_thread(std::int64_t process, std::uint32_t thread) const {
  return named_threads_.size() == max_thread_tracks || named_threads_.count({process, thread}) != 0;
}

perfetto_trace::thread_tracks* perfetto_trace::find_thread(std::int64_t process, std::uint32_t thread,
                                                           const std::string& name) {
  const std::pair key{process, thread};
  if (last_found_ != nullptr && last_thread_ == key) return last_found_;
  auto entry = threads_.find(key);
  if (entry == threads_.end()) {
    if (threads_.size() == max_thread_tracks) return nullptr;
    entry = threads_.try_emplace(key).first;
    thread_tracks& made = entry->second;
    made.own = {++last_track_, common_};
    describe_thread(process, thread, made.own.id, name.empty() ? fmt::format("thread {}", thread) : name);
    if (sequences_.size() < max_sequences) made.own.in = &begin_sequence(made.own.id);
    made.overlapping = {made.own.id, "overlapping", {}};
  }
  last_thread_ = key;
  last_found_ = &entry->second;
  return last_found_;
}

perfetto_trace::track& perfetto_trace::track_of_thread(std::int64_t process, std::uint32_t thread) {
  if (thread_tracks* const found = find_thread(process, thread); found != nullptr) return found->own;
  other_ = make_track(find_process(process).track, "other threads", false);
  return other_;
}

void perfetto_trace::name_device(std::int64_t process, std::uint32_t device, const traced_device& what) {
  devices_[{process, device}].track = make_track(find_process(process).track, what.name, false).id;
}

bool perfetto_trace::knows_device(std::int64_t process, std::uint32_t device) const {
  return devices_.count({process, device}) != 0;
}

perfetto_trace::device_tracks& perfetto_trace::find_device(std::int64_t process, std::uint32_t device) {
  const auto entry = devices_.find({process, device});
  if (entry != devices_.end()) return entry->second;
  name_device(process, device, {fmt::format("device {}", device), device, {}});
  return devices_.at({process, device});
}

// Names with one text have one number.
const perfetto_trace::site_name& perfetto_trace::find_name(const traced_site& site) {
  const auto [entry, is_new] = names_.try_emplace(&site);
  if (!is_new) return entry->second;
  entry->second.text = make_packet_text(spelled_ ? spelled_(site.name) : site.name);
  const auto next = static_cast<std::uint32_t>(submit_.number + 1 + numbers_.size());
  entry->second.number = numbers_.try_emplace(entry->second.text, next).first->second;
  return entry->second;
}

// Before the first use of a name in a sequence.
void perfetto_trace::define(sequence& in, const site_name& name, region_kind kind) {
  const std::size_t word = name.number / 64;
  const std::uint64_t bit = std::uint64_t{1} << name.number % 64;
  const std::uint64_t kind_bit = std::uint64_t{1} << static_cast<unsigned>(kind);
  const bool has_name = word < in.names.size() && (in.names[word] & bit) != 0;
  if (has_name && (in.kinds & kind_bit) != 0) return;
  std::string packet, interned;
  if ((in.kinds & kind_bit) == 0)
    put(interned, field::categories, make_interned(static_cast<unsigned>(kind) + 1, to_string(kind)));
  if (!has_name) put(interned, field::names, make_interned(name.number, name.text));
  in.kinds |= kind_bit;
  if (word >= in.names.size()) in.names.resize(word + 1);
  in.names[word] |= bit;
  put(packet, field::sequence, in.id);
  put(packet, field::interned, interned);
  append_packet(packet);
}

void perfetto_trace::define_annotations(sequence& in) {
  if (std::exchange(in.has_annotations, true)) return;
  std::string packet, interned;
  put(interned, field::annotation_names, make_interned(note_bytes, "bytes"));
  put(interned, field::annotation_names, make_interned(note_correlation, "correlation"));
  put(interned, field::annotation_names, make_interned(note_color, "color"));
  put(interned, field::annotation_names, make_interned(note_peer, "peer"));
  put(interned, field::annotation_names, make_interned(note_tag, "tag"));
  put(packet, field::sequence, in.id);
  put(packet, field::interned, interned);
  append_packet(packet);
}

void perfetto_trace::add_slice(track& on, const traced_event& event, const slice& what) {
  const traced_site& site = *event.site;
  const site_name& name = find_name(site);
  sequence& in = *on.in;
  define(in, name, site.kind);
  const traced_message* const message =
      event.messages != nullptr && event.messages->size() == 1 ? &event.messages->front() : nullptr;
  const bool has_notes = event.bytes != 0 || event.correlation != 0 || site.color != 0 || message != nullptr;
  if (has_notes) define_annotations(in);
  // Each packet has at most 15 bytes, and an event of at most 116.
  char bytes[256];
  const auto begin_event = [&](short_message& to, event_type type, std::uint64_t ns) {
    to.put(field::timestamp, ns);
    to.put(field::sequence, in.id);
    char* const length = to.begin(field::track_event);
    to.put(field::event_type, type);
    if (in.track == 0) to.put(field::event_track, on.id);
    to.put(field::event_name, name.number);
    return length;
  };
  short_message to(bytes);
  char* packet = to.begin(field::packet);
  char* length = begin_event(to, slice_begin, what.begin_ns);
  if (site.kind != region_kind::region) to.put(field::event_category, static_cast<unsigned>(site.kind) + 1);
  if (what.arrow != 0) to.put_fixed(field::ending_flow, what.arrow);
  if (has_notes) put_notes(to, event, message);
  to.end(length);
  to.end(packet);
  // The name is also at the end, so that times are right if a viewer orders spans of equal times in another way.
  packet = to.begin(field::packet);
  length = begin_event(to, slice_end, what.end_ns);
  to.end(length);
  to.end(packet);
  append(bytes, static_cast<std::size_t>(to.end() - bytes));
}

void perfetto_trace::add_instant(const track& on, const traced_site* site, std::uint64_t time_ns, std::uint64_t arrow,
                                 bool is_arrow_end) {
  const site_name& name = site != nullptr ? find_name(*site) : submit_;
  const region_kind kind = site != nullptr ? site->kind : region_kind::region;
  define(*on.in, name, kind);
  char bytes[128];
  short_message to(bytes);
  char* const packet = to.begin(field::packet);
  to.put(field::timestamp, time_ns);
  to.put(field::sequence, on.in->id);
  char* const length = to.begin(field::track_event);
  to.put(field::event_type, instant);
  if (on.in->track == 0) to.put(field::event_track, on.id);
  to.put(field::event_name, name.number);
  if (site != nullptr) to.put(field::event_category, static_cast<unsigned>(kind) + 1);
  if (arrow != 0) to.put_fixed(is_arrow_end ? field::ending_flow : field::flow, arrow);
  to.end(length);
  to.end(packet);
  append(bytes, static_cast<std::size_t>(to.end() - bytes));
}

void perfetto_trace::add_operation(std::int64_t process, const traced_event& event) {
  device_tracks& device = find_device(process, event.site->device);
  // A host wait comes from a thread, not from a queue; 0 is also a queue.
  const bool is_offload = event.as != traced_as::operation;
  const queue_key key{is_offload, is_offload ? event.thread : event.queue};
  auto entry = device.queues.find(key);
  track* on = nullptr;
  if (entry == device.queues.end() && device.queues.size() == max_queue_groups) {
    other_ = make_track(device.track, "other queues", false);
    on = &other_;
  } else {
    if (entry == device.queues.end()) {
      std::string name = is_offload ? fmt::format("offloads of thread {}", event.thread)
                                    : fmt::format("queue {}", device.queues.size() + 1);
      entry = device.queues.try_emplace(key, track_group{device.track, std::move(name), {}}).first;
    }
    on = &find_track(entry->second, event);
  }
  const std::uint64_t arrow = is_offload || event.submitted_ns == 0 ? 0 : ++arrows_;
  add_slice(*on, event, {since_origin(event.begin_ns), since_origin(event.end_ns), arrow});
  if (arrow != 0) add_instant(track_of_thread(process, event.thread), nullptr, since_origin(event.submitted_ns), arrow);
}

// Whether receives of this call match in the order of the calls. Receives that end in other calls, such as MPI_Wait,
// match in the order of their begins, which a trace lacks.
static bool is_blocking_receive(std::string_view name) {
  name = name.substr(0, name.find(" ["));
  return name == "MPI_Recv" || name == "MPI_Sendrecv" || name == "MPI_Sendrecv_replace";
}

// Keeps the ends of messages: only all of a channel show which belong together.
void perfetto_trace::add_messages(const track& on, std::int64_t process, const traced_event& event) {
  const auto own = ranks_.find(process);
  for (const traced_message& message : *event.messages) {
    if (message.what == traced_message::form::collective) continue;
    const traced_communicator* const of = message.communicator;
    if (own == ranks_.end() || of == nullptr || !message.peer || *message.peer >= of->ranks.size()) {
      ++without_arrow_;
      continue;
    }
    const bool is_receive = message.what == traced_message::form::receive;
    const std::uint32_t other = of->ranks[*message.peer];
    const channel_key key{of, is_receive ? other : own->second, is_receive ? own->second : other,
                          message.tag.value_or(~std::uint32_t{0})};
    auto listed = channel_numbers_.find(key);
    if (listed == channel_numbers_.end()) {
      if (channels_.size() == max_message_channels) {
        ++without_arrow_;
        continue;
      }
      listed = channel_numbers_.try_emplace(key, static_cast<std::uint32_t>(channels_.size())).first;
      channels_.emplace_back();
    }
    message_channel& channel = channels_[listed->second];
    const std::uint64_t number = channel.counts[is_receive]++;
    if (number == 0) channel.threads[is_receive] = event.thread;
    if (channel.threads[is_receive] != event.thread || (is_receive && !is_blocking_receive(event.site->name)))
      channel.is_ordered = false;
    if (message_ends_.size() == max_message_ends) {
      channel.is_complete = false;
      ++without_arrow_;
      continue;
    }
    message_ends_.push_back({on.id, since_origin(event.begin_ns), number, on.in, listed->second, is_receive});
  }
}

// A channel with a missing end, or with several messages in an unknown order, has no arrows: they would join others.
void perfetto_trace::write_arrows() {
  for (const message_end& end : message_ends_) {
    const message_channel& channel = channels_[end.channel];
    if (channel.counts[0] != channel.counts[1] || !channel.is_complete ||
        (!channel.is_ordered && channel.counts[0] != 1)) {
      ++without_arrow_;
      continue;
    }
    constexpr std::uint64_t of_message = std::uint64_t{1} << 63U;  // other arrows are numbered from 1
    add_instant({end.track, end.in}, end.is_receive ? &receive_site_ : &send_site_, end.time_ns,
                of_message | std::uint64_t{end.channel} << 40U | end.number, end.is_receive);
  }
  message_ends_.clear();
}

std::vector<std::string> perfetto_trace::remarks() const {
  std::vector<std::string> made = trace_writer::remarks();
  if (without_arrow_ != 0)
    made.push_back(
        fmt::format("has {} {} of MPI messages without an arrow: the other end or the order of nonblocking receives is "
                    "unknown",
                    without_arrow_, without_arrow_ == 1 ? "end" : "ends"));
  return made;
}

void perfetto_trace::add_value(std::int64_t process, const traced_event& event) {
  const site_name& name = find_name(*event.site);
  const auto found = counters_.find({process, name.text});
  std::uint64_t counter = found != counters_.end() ? found->second : 0;
  if (!std::isfinite(event.value) || (counter == 0 && counters_.size() == max_counters)) {  // viewers cannot show it
    --buffered_;
    ++lost_;
    return;
  }
  if (counter == 0) {
    counter = counters_[{process, name.text}] = ++last_track_;
    std::string packet, descriptor;
    put(descriptor, field::track, counter);
    put(descriptor, field::parent, find_process(process).track);
    put(descriptor, field::track_name, name.text);
    put(descriptor, field::counter, std::string_view());
    put(packet, field::track_descriptor, descriptor);
    put(packet, field::sequence, common_->id);
    append_packet(packet);
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, &event.value, sizeof bits);
  char bytes[128];
  short_message to(bytes);
  char* const packet = to.begin(field::packet);
  to.put(field::timestamp, since_origin(event.begin_ns));
  to.put(field::sequence, common_->id);
  char* const length = to.begin(field::track_event);
  to.put(field::event_type, counter_value);
  to.put(field::event_track, counter);
  to.put_fixed(field::real_value, bits);
  to.end(length);
  to.end(packet);
  append(bytes, static_cast<std::size_t>(to.end() - bytes));
}

void perfetto_trace::add(std::int64_t process, const traced_event& event) {
  ++buffered_;
  const slice times{since_origin(event.begin_ns), since_origin(event.end_ns)};
  switch (event.as) {
    case traced_as::operation: add_operation(process, event); return;
    case traced_as::metric: add_value(process, event); return;
    case traced_as::instant_event:
      add_instant(track_of_thread(process, event.thread), event.site, times.begin_ns, 0);
      return;
    case traced_as::scope:
    case traced_as::handle: break;
  }
  thread_tracks* const thread = find_thread(process, event.thread);
  const bool is_overlapping =
      thread != nullptr && (event.as == traced_as::handle || crossing_.needs_other_track(thread->scopes, event));
  track& on = thread == nullptr ? track_of_thread(process, event.thread)
              : is_overlapping  ? find_track(thread->overlapping, event)
                                : thread->own;
  add_slice(on, event, times);
  if (event.messages != nullptr) add_messages(on, process, event);
  if (event.as == traced_as::scope && event.site->device != 0) add_operation(process, event);
}

}  // namespace adaptyst::lib
