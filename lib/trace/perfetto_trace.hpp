// Writes a timeline in Perfetto's binary form, FILE.pftrace (https://perfetto.dev/docs/reference/trace-packet-proto).
//
// The file is a sequence of packets that grows with little memory, so that the file of a killed program loads. Times
// are ns since the first event; a clock snapshot relates them to the clocks of the machine. A span is a packet at its
// begin and one at its end. Each thread has a track. Each queue of a device has a track, or several if its operations
// overlap. Handles, and scopes that cross others of their thread, are on further tracks of the thread. Arrows begin at
// the submission of an operation.
//
// Threads and queues are sequences of the file, up to a limit, because a sequence has a default track: this saves bytes.
#ifndef ADAPTYST_LIB_TRACE_PERFETTO_TRACE_HPP
#define ADAPTYST_LIB_TRACE_PERFETTO_TRACE_HPP

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/traced_event.hpp"
#include "../support/output_file.hpp"
#include "crossing_scopes.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

class perfetto_trace final : public trace_writer {
 public:
  // The clocks at time 0 of the trace; empty: unknown. `monotonic_ns` is subtracted from all times.
  struct clocks {
    std::uint64_t monotonic_ns = 0;
    std::optional<std::uint64_t> boottime_ns, realtime_ns;
  };
  // The clocks of this machine, for events of CLOCK_MONOTONIC.
  static clocks read_clocks(std::uint64_t origin_ns);

  // Makes the file and replaces an existing one. `spelled`: makes the readable name of a marker, called once for each.
  // Throws error.
  perfetto_trace(std::string file, const clocks& at_origin, name_speller spelled = {},
                 output_file::appears when = output_file::appears::with_text);

  void name_process(std::int64_t process, const traced_process& what) override;
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override;
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override;
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override;
  bool knows_device(std::int64_t process, std::uint32_t device) const override;
  bool needs_order() const noexcept override { return true; }
  void add(std::int64_t process, const traced_event& event) override;
  std::uint64_t bytes() const noexcept override { return written_bytes_ + buffer_.size(); }
  std::vector<std::string> remarks() const override;
  std::uint64_t lost() const noexcept override { return lost_; }
  void flush() override;
  void finish() override;

 private:
  struct sequence {
    std::uint32_t id = 0;
    std::uint64_t track = 0;           // the default; 0: none
    std::vector<std::uint64_t> names;  // bits of the names that the sequence has defined
    std::uint64_t kinds = 0;
    bool has_annotations = false;
  };
  struct track {
    std::uint64_t id = 0;
    sequence* in = nullptr;
    std::uint64_t end_ns = 0;  // of the last span, if spans may not overlap
  };
  // Tracks for spans that may overlap.
  struct track_group {
    std::uint64_t parent = 0;
    std::string name;
    std::vector<track> tracks;
  };
  struct thread_tracks {
    track own;
    track_group overlapping;
    crossing_scopes::thread scopes;
  };
  using queue_key = std::pair<bool, std::uint64_t>;  // whether it is a thread that waits for offloads; its number
  struct device_tracks {
    std::uint64_t track = 0;
    std::map<queue_key, track_group> queues;
  };
  struct process_track {
    std::uint64_t track = 0;
    std::int32_t number = 0;  // in the file
  };
  struct site_name {
    std::uint32_t number = 0;
    std::string text;  // valid UTF-8
  };
  struct slice {
    std::uint64_t begin_ns, end_ns;
    std::uint64_t arrow = 0;  // that ends here; 0: none
  };
  // Messages between two ranks of the world with a communicator and a tag match in the order of their calls. A
  // communicator is an object: others may have the same name and ranks.
  using channel_key = std::tuple<const traced_communicator*, std::uint32_t, std::uint32_t, std::uint32_t>;
  struct message_channel {
    std::uint64_t counts[2]{};   // of sends and receives
    std::uint32_t threads[2]{};  // of the first ones
    bool is_ordered = true;      // the calls are in the order of the messages
    bool is_complete = true;     // all ends are in `message_ends_`
  };
  // An end of a message, until all are there.
  struct message_end {
    std::uint64_t track, time_ns, number;  // the number in the channel
    sequence* in;
    std::uint32_t channel;
    bool is_receive;
  };

  void append(const char* bytes, std::size_t size);
  void append_packet(std::string_view content);
  void write_out() noexcept;
  void report_failure();  // once
  std::uint64_t since_origin(std::uint64_t ns) const noexcept {
    return ns > at_origin_.monotonic_ns ? ns - at_origin_.monotonic_ns : 0;
  }
  sequence& begin_sequence(std::uint64_t default_track);
  track make_track(std::uint64_t parent, const std::string& name, bool is_frequent);
  track& find_track(track_group& in, const time_span& span);
  // A new process or thread gets this name; empty: its number.
  process_track& find_process(std::int64_t process, const std::string& name = {}, const std::string& host = {});
  // Null: there are too many threads.
  thread_tracks* find_thread(std::int64_t process, std::uint32_t thread, const std::string& name = {});
  void describe_process(const process_track& what, const std::string& name, const std::string& host);
  void describe_thread(std::int64_t process, std::uint32_t thread, std::uint64_t track, const std::string& name);
  device_tracks& find_device(std::int64_t process, std::uint32_t device);
  const site_name& find_name(const traced_site& site);
  void define(sequence& in, const site_name& name, region_kind kind);
  void define_annotations(sequence& in);
  void add_messages(const track& on, std::int64_t process, const traced_event& event);
  void write_arrows();
  void add_slice(track& on, const traced_event& event, const slice& what);
  void add_operation(std::int64_t process, const traced_event& event);
  void add_instant(const track& on, const traced_site* site, std::uint64_t time_ns, std::uint64_t arrow,
                   bool is_arrow_end = false);
  void add_value(std::int64_t process, const traced_event& event);
  track& track_of_thread(std::int64_t process, std::uint32_t thread);

  std::string name_;
  clocks at_origin_;
  name_speller spelled_;
  output_file file_;
  std::string buffer_;
  std::uint64_t written_bytes_ = 0;  // bytes before the buffer
  std::uint64_t buffered_ = 0;       // events
  std::uint64_t lost_ = 0;
  bool has_reported_ = false;

  std::uint64_t last_track_ = 0, arrows_ = 0;
  std::int32_t large_processes_ = 0;
  std::deque<sequence> sequences_;
  sequence* common_ = nullptr;  // without a default track
  track other_;                 // of threads and spans without a track
  std::unordered_map<const traced_site*, site_name> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of names
  site_name submit_;
  traced_site send_site_{"send", region_kind::function}, receive_site_{"receive", region_kind::function};
  std::map<std::int64_t, process_track> processes_;
  std::map<std::int64_t, std::uint32_t> ranks_;
  std::map<channel_key, std::uint32_t> channel_numbers_;
  std::vector<message_channel> channels_;
  std::vector<message_end> message_ends_;
  std::uint64_t without_arrow_ = 0;
  crossing_scopes crossing_{true};
  std::map<std::pair<std::int64_t, std::uint32_t>, thread_tracks> threads_;
  std::pair<std::int64_t, std::uint32_t> last_thread_{};
  thread_tracks* last_found_ = nullptr;
  std::set<std::pair<std::int64_t, std::uint32_t>> named_threads_;
  std::map<std::pair<std::int64_t, std::uint32_t>, device_tracks> devices_;
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> counters_;  // by process and name, as in viewers
};

}  // namespace adaptyst::lib

#endif
