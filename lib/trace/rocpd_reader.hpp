// Reads rocpd files, the SQLite databases of AMD's rocprofv3 and rocprofiler-systems, in schemas 3.0 to 4.1.
//
// docs/traces.md lists the sources of all values. Each process has tables of its own, with an identifier at the end of
// their names; a file may contain several. Views are not read: only tables are, because a view may run for any time.
// Times count from the begin of a machine's first process.
#ifndef ADAPTYST_LIB_TRACE_ROCPD_READER_HPP
#define ADAPTYST_LIB_TRACE_ROCPD_READER_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "placed_scopes.hpp"
#include "rocpd_tables.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

class rocpd_reader final : public trace_input {
 public:
  static bool is_rocpd(const sqlite_database& in);
  explicit rocpd_reader(std::unique_ptr<sqlite_database> in);

  const std::string& file() const override { return in_->file(); }
  std::string describe() const override;
  bool is_simulated() const override { return is_simulated_; }
  // The times are of a clock that starts with the machine.
  std::optional<std::int64_t> utc_ns() const override { return std::nullopt; }
  std::optional<machine_time> begin_on_machine() const override;
  std::vector<device> devices() const override { return devices_; }
  std::map<std::int64_t, traced_process> processes() const override { return processes_; }
  std::string missing() const override;
  std::string without_place() const override;
  void read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) override;
  std::unique_ptr<trace_scan> scan(scan_subject what) const override;
  void read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const override;

  const std::vector<rocpd::part>& parts() const noexcept { return parts_; }

 private:
  struct node {
    std::string host, machine;
  };
  // An agent before devices have numbers.
  struct found_agent {
    rocpd::agent* to;
    std::string machine, name;
    std::int64_t on_machine = 0, wanted = 0;
  };

  void list_parts();
  std::map<std::string, std::uint64_t> count_unread() const;
  void read_part(rocpd::part& part, std::vector<found_agent>& agents);
  std::map<std::int64_t, node> read_nodes(const rocpd::part& part) const;
  // Returns the begin of the first process; empty: unknown.
  std::optional<std::int64_t> read_processes(rocpd::part& part, const std::map<std::int64_t, node>& nodes);
  void read_agents(rocpd::part& part, const std::map<std::int64_t, node>& nodes, std::vector<found_agent>& agents);
  void number_devices(const std::vector<found_agent>& agents);
  std::optional<std::int64_t> find_begin(const rocpd::part& part, std::optional<std::int64_t> process_begin_ns) const;
  // A number that no process of the file has.
  std::int64_t find_free_number();

  std::unique_ptr<sqlite_database> in_;
  std::string schema_;
  bool is_simulated_ = false;
  std::int64_t next_process_ = rocpd::highest_process;  // for processes with another number than on their machine
  std::vector<rocpd::part> parts_;
  std::map<std::int64_t, traced_process> processes_;
  std::vector<device> devices_;
  site_list sites_;                  // of all events
  unplaced_events unplaced_;         // in the last read()
  std::uint64_t unused_values_ = 0;  // the same
};

}  // namespace adaptyst::lib

#endif
