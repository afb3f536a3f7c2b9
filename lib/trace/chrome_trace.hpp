// Writes a timeline in Chrome's trace event format, which Perfetto, chrome://tracing and Speedscope read
// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
//
// The file is one array that grows with little memory, so that the file of a killed program loads. Times are
// microseconds since the first event, with three decimals. Each thread has a track. Each queue of a device has a track,
// or several if its operations overlap, because slices of one track must nest. Arrows begin at the submission of an
// operation. A scope that crosses another one of its thread is a pair of begin and end.
#ifndef ADAPTYST_LIB_TRACE_CHROME_TRACE_HPP
#define ADAPTYST_LIB_TRACE_CHROME_TRACE_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/traced_event.hpp"
#include "../support/output_file.hpp"
#include "crossing_scopes.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

class chrome_trace final : public trace_writer {
 public:
  using kind_words = const char* (*)(region_kind);
  // Makes the file and replaces an existing one. Throws error. `origin_ns`: CLOCK_MONOTONIC at time 0; `spelled`: makes
  // the readable name of a marker, called once for each; empty: unchanged names.
  chrome_trace(std::string file, std::uint64_t origin_ns, kind_words words, name_speller spelled = {},
               output_file::appears when = output_file::appears::with_text);
  chrome_trace(const chrome_trace&) = delete;
  chrome_trace& operator=(const chrome_trace&) = delete;

  void name_process(std::int64_t process, const traced_process& what) override;
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override;
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override;
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override;
  bool knows_device(std::int64_t process, std::uint32_t device) const override;
  void add(std::int64_t process, const traced_event& event) override;
  bool needs_order() const noexcept override { return true; }
  std::uint64_t bytes() const noexcept override { return written_bytes_ + buffer_.size(); }
  std::uint64_t lost() const noexcept override { return lost_; }
  // The number of skipped counter values: values of counters that have not changed since their beginning.
  std::uint64_t unchanged() const noexcept override { return unchanged_; }
  void flush() override;
  // Closes the array.
  void finish() override;

 private:
  struct queue_tracks {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> tracks;  // number on the device, end of the last operation
    std::uint32_t number = 0;                                     // of the queue on the device
  };
  using queue_key = std::pair<bool, std::uint64_t>;  // whether it is a thread that waits for offloads; its number
  struct device_tracks {
    std::int64_t process = 0;  // its number in the file
    std::uint32_t tracks = 0;
    std::map<queue_key, queue_tracks> queues;
  };

  // A counter is written from its first change on; a constant counter is skipped.
  struct counter {
    traced_event first;
    bool is_written = false;
  };

  void begin_event();
  void end_event();
  void write_out() noexcept;
  void report_failure();  // once
  void write(std::string_view name, std::string_view kind, char phase, std::int64_t process, std::uint32_t track,
             std::uint64_t time_ns);
  void end_colored(const traced_site& site);
  void write_metadata(const char* what, std::int64_t process, std::uint32_t track, const std::string& name);
  std::string format_time(std::uint64_t ns) const;
  const std::string& quoted(const traced_site& site);
  // The number of a process in the file; other numbers are devices.
  std::int64_t find_number(std::int64_t process);
  device_tracks& find_device(std::int64_t process, std::uint32_t device);
  bool needs_pair(std::int64_t process, const traced_event& scope);
  std::uint32_t track_for(device_tracks& device, const traced_event& operation);
  // For events that cannot be slices, because slices must nest.
  void add_pair(std::string_view name, std::string_view kind, std::int64_t process, std::uint32_t track,
                const traced_event& event);
  void add_operation(std::int64_t process, const traced_event& event);
  void add_value(std::int64_t process, const traced_event& event);
  void write_value(std::int64_t process, const traced_event& event);

  std::string name_;
  std::uint64_t origin_ns_;
  kind_words words_;
  name_speller spelled_;
  output_file file_;  // unchanged unless finish() is called
  std::string buffer_;
  std::size_t event_at_ = 0;         // position of the last event in the buffer
  std::uint64_t written_bytes_ = 0;  // bytes before the buffer
  bool is_empty_ = true;
  std::unordered_map<const traced_site*, std::string> names_;         // in JSON
  std::map<std::pair<std::int64_t, std::string>, counter> counters_;  // by process and name, as in viewers
  std::set<std::pair<std::int64_t, std::uint32_t>> threads_;
  std::map<std::pair<std::int64_t, std::uint32_t>, device_tracks> devices_;
  std::map<std::int64_t, std::int64_t> large_processes_;  // processes with a different number in the file
  std::int64_t numbered_ = 0;                             // devices, and processes with large numbers
  crossing_scopes crossing_{false};
  std::map<std::pair<std::int64_t, std::uint32_t>, crossing_scopes::thread> scopes_;
  std::uint64_t arrows_ = 0;
  bool has_reported_ = false;   // whether the failure was reported
  std::uint64_t buffered_ = 0;  // events
  std::uint64_t lost_ = 0;
  std::uint64_t unchanged_ = 0;
};

}  // namespace adaptyst::lib

#endif
