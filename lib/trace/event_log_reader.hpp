// Reads the files of event_log_writer, up to the point where the program was killed. Each record is checked, because
// any program may have written the file.
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

#include "event_log_blocks.hpp"
#include "process_devices.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

class event_log_reader final : public trace_input {
 public:
  // Reads the blocks with names. Throws error if one is damaged, or if the log has a later version.
  explicit event_log_reader(std::string file);

  const std::string& file() const override { return file_; }
  std::string describe() const override;
  bool is_simulated() const override { return false; }
  bool is_complete() const override { return is_complete_; }
  std::optional<std::int64_t> utc_ns() const override { return utc_ns_; }
  std::vector<device> devices() const override { return devices_.list(); }
  std::optional<users_by_device> users() const override { return devices_.users(); }
  std::map<std::int64_t, traced_process> processes() const override { return processes_; }
  std::string missing() const override;
  void read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) override;
  std::unique_ptr<trace_scan> scan(scan_subject what) const override;
  void read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const override;

  const std::deque<traced_site>& sites() const noexcept { return sites_; }
  std::uint32_t physical(std::int64_t process, std::uint32_t number) const {
    return devices_.physical(process, number);
  }
  // The begins of blocks, at least 1 MiB apart, and the end of the last one.
  const std::vector<std::uint64_t>& blocks() const noexcept { return blocks_; }
  std::uint64_t end() const noexcept { return end_; }

 private:
  void read_name(event_log_cursor& from, log_record what);
  void read_site(event_log_cursor& from);

  std::string file_;
  std::optional<std::int64_t> utc_ns_;
  std::map<std::int64_t, traced_process> processes_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::string> threads_;
  process_devices devices_;
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> losses_;
  std::deque<traced_site> sites_;  // addresses stay valid
  std::vector<std::uint64_t> blocks_;
  std::uint64_t version_ = 0, end_ = 0;
  bool is_complete_ = false;
};

}  // namespace adaptyst::lib

#endif
