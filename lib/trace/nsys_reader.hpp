// Reads Nsight Systems' exports to SQLite of any minor version: tables may be missing, and columns are found by name.
//
// docs/traces.md lists the sources of all values. The CUDA library numbers devices in each process;
// TARGET_INFO_CUDA_CONTEXT_INFO has the machine's numbers. Correlation ids are unique only within a process.
#ifndef ADAPTYST_LIB_TRACE_NSYS_READER_HPP
#define ADAPTYST_LIB_TRACE_NSYS_READER_HPP

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "placed_scopes.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

class nsys_reader final : public trace_input {
 public:
  static bool is_export(const sqlite_database& in);
  explicit nsys_reader(std::unique_ptr<sqlite_database> in);

  const std::string& file() const override { return in_->file(); }
  std::string describe() const override;
  bool is_simulated() const override { return is_simulated_; }
  std::optional<std::int64_t> utc_ns() const override { return utc_ns_; }
  std::vector<device> devices() const override;
  // Processes with a context on a device.
  std::optional<users_by_device> users() const override;
  std::map<std::int64_t, traced_process> processes() const override { return processes_; }
  std::string missing() const override;
  std::string without_place() const override { return unplaced_.text(file()); }
  void read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) override;
  std::unique_ptr<trace_scan> scan(scan_subject what) const override;
  void read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const override;

  // The physical device for a process's device, by context if known.
  std::uint32_t physical(std::int64_t process, std::int64_t context, std::int64_t logical) const;

 private:
  using pair_of_numbers = std::pair<std::int64_t, std::int64_t>;
  void read_about();

  std::unique_ptr<sqlite_database> in_;
  std::string product_, schema_;
  bool is_simulated_ = false;
  std::optional<std::int64_t> utc_ns_;
  std::map<std::int64_t, traced_process> processes_;
  std::map<std::int64_t, std::pair<std::string, std::string>> gpus_;  // name and UUID
  std::map<pair_of_numbers, std::int64_t> by_context_, by_number_;    // (process, context or number) → GPU
  site_list sites_;                                                   // of all events
  unplaced_events unplaced_;                                          // of the last read
};

}  // namespace adaptyst::lib

#endif
