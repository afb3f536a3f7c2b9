// Reads adaptyst's trace store.
#ifndef ADAPTYST_LIB_TRACE_STORE_READER_HPP
#define ADAPTYST_LIB_TRACE_STORE_READER_HPP

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "process_devices.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

class store_reader final : public trace_input {
 public:
  static bool is_store(const sqlite_database& in);
  // Throws error if its schema is later.
  explicit store_reader(std::unique_ptr<sqlite_database> in);

  const std::string& file() const override { return in_->file(); }
  std::string describe() const override;
  bool is_simulated() const override { return is_simulated_; }
  bool is_complete() const override { return is_complete_; }
  std::optional<std::int64_t> utc_ns() const override { return utc_ns_; }
  std::vector<device> devices() const override { return devices_.list(); }
  std::optional<users_by_device> users() const override { return devices_.users(); }
  std::map<std::int64_t, traced_process> processes() const override;
  std::string missing() const override;
  std::string without_place() const override;
  // Text about messages of MPI that read() has skipped; empty: none.
  std::string unread_messages() const;
  void read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) override;
  std::unique_ptr<trace_scan> scan(scan_subject what) const override;
  void read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const override;

  struct path {
    std::int64_t parent = 0;
    std::string name;
    region_kind kind = region_kind::region;
    std::uint32_t device = 0, color = 0;
    std::optional<level> own_level{};
    std::string file;
    std::uint32_t line = 0;
  };
  const std::map<std::int64_t, path>& paths() const noexcept { return paths_; }
  // The physical number of a process's device.
  std::uint32_t physical(std::int64_t process, std::uint32_t number) const {
    return devices_.physical(process, number);
  }

 private:
  void read_names(trace_writer& to);
  void read_communicators();
  void read_messages();

  std::unique_ptr<sqlite_database> in_;
  bool is_simulated_ = false, is_complete_ = false;
  std::optional<std::int64_t> utc_ns_;
  // The rank of the whole file, if it belongs to one rank; a process with a rank uses that.
  std::optional<std::uint32_t> rank_;
  std::string host_;
  std::map<std::int64_t, path> paths_;
  process_devices devices_;
  std::map<std::int64_t, traced_site> sites_;  // of all events
  std::map<std::int64_t, traced_communicator> communicators_;
  std::unordered_map<std::int64_t, traced_messages> calls_;
  std::uint64_t unread_calls_ = 0, unread_forms_ = 0, without_ranks_ = 0, unread_communicators_ = 0;
};

}  // namespace adaptyst::lib

#endif
