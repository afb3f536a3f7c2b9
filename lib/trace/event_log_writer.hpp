// The compact file of a program's collector: about six bytes an event, one write(2) at a time, no locks, and no SQLite.
// `adaptyst convert` makes a store or an HTML report from it; `adaptyst variability` reads it directly.
#ifndef ADAPTYST_LIB_TRACE_EVENT_LOG_WRITER_HPP
#define ADAPTYST_LIB_TRACE_EVENT_LOG_WRITER_HPP

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "../support/output_file.hpp"
#include "event_log_format.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

class event_log_writer final : public trace_writer {
 public:
  // Makes the file at once and replaces an existing one. `origin_ns`: CLOCK_MONOTONIC at time 0. Throws error.
  event_log_writer(std::string file, std::uint64_t origin_ns, name_speller spelled = {});

  void name_process(std::int64_t process, const traced_process& what) override;
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override;
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override;
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override;
  bool knows_device(std::int64_t process, std::uint32_t device) const override;
  void add(std::int64_t process, const traced_event& event) override;
  void add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) override;
  std::uint64_t bytes() const noexcept override { return written_bytes_ + block_.size(); }
  std::uint64_t lost() const noexcept override { return lost_; }
  void flush() override;
  void finish() override;

 private:
  // For records that name something; may begin a block.
  void begin_record(log_record what);
  void put(std::uint64_t number);
  void put(std::string_view text);
  std::uint64_t find_site(const traced_site& site);
  std::uint64_t since_origin(std::uint64_t ns) const noexcept { return ns > origin_ns_ ? ns - origin_ns_ : 0; }
  void begin_block();
  void end_block();
  void report_failure();  // once

  std::string name_;
  std::uint64_t origin_ns_;
  name_speller spelled_;
  output_file file_;
  std::string block_;  // head and records
  bool has_names_ = false;
  std::uint64_t events_ = 0;  // in the block
  std::uint64_t written_bytes_ = 0;
  std::uint64_t lost_ = 0;
  bool has_reported_ = false;

  // The reference for the differences in the block's next event.
  bool has_place_ = false;
  std::int64_t process_ = 0;
  std::uint32_t thread_ = 0;
  std::uint64_t begin_ns_ = 0;

  std::unordered_map<const traced_site*, std::uint64_t> sites_;
  std::set<std::pair<std::int64_t, std::uint32_t>> threads_, devices_;
};

}  // namespace adaptyst::lib

#endif
