// Reads an event log from its begin to its end, twice: whom it names, and then what happened. Another program may have
// written it.
#ifndef ADAPTYST_LIB_TRACE_EVENT_LOG_READER_HPP
#define ADAPTYST_LIB_TRACE_EVENT_LOG_READER_HPP

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event_log_format.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

class event_log_reader final : public trace_input {
 public:
  static bool is_event_log(const std::string& file);

  // Throws error: where it is damaged, or of a later version.
  explicit event_log_reader(std::string file);

  const std::string& file() const override { return file_; }
  std::string describe() const override;
  bool is_simulated() const override { return false; }
  std::optional<std::int64_t> utc_ns() const override { return utc_ns_; }
  std::vector<device> devices() const override;
  std::map<std::int64_t, traced_process> processes() const override { return processes_; }
  std::string missing() const override;
  void read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) override;
  // Throws error: there are no rows in it that several could read at once.
  std::unique_ptr<trace_scan> scan(scan_subject what) const override;

 private:
  class source;
  using device_key = std::pair<std::int64_t, std::uint32_t>;

  // One way through the file: whom events go to, if to anyone, and what those behind are told as a difference from.
  struct walk {
    trace_writer* to = nullptr;
    std::int64_t shift_ns = 0;
    bad_rows* bad = nullptr;
    std::uint64_t sites = 0;  // that it has passed
    std::int64_t process = 0;
    std::uint32_t thread = 0;
    std::uint64_t begin_ns = 0;
  };

  void go_through(walk& now);
  void read_name(source& from, log_record what, walk& now);
  void read_site(source& from, walk& now);
  void read_event(source& from, std::uint8_t first, std::uint64_t at, walk& now);

  std::string file_;
  std::optional<std::int64_t> utc_ns_;
  std::map<std::int64_t, traced_process> processes_;
  std::map<device_key, device> devices_;
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> losses_;
  std::deque<traced_site> sites_;  // at places that stay
  bool is_complete_ = false;
};

}  // namespace adaptyst::lib

#endif
