// Writes a trace as a store in SQLite; committed data survives a kill at any moment.
#ifndef ADAPTYST_LIB_TRACE_STORE_WRITER_HPP
#define ADAPTYST_LIB_TRACE_STORE_WRITER_HPP

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "../support/error.hpp"
#include "sqlite_database.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

class store_writer final : public trace_writer {
 public:
  enum class appears {
    at_once,  // under its name from the start: a killed run leaves the committed data
    whole,    // under its name only when finished
  };
  // Replaces a file of this name. Times in the store are ns since `origin_ns`. Throws error.
  store_writer(std::string file, std::uint64_t origin_ns, appears when, name_speller spelled = {});
  ~store_writer() override;

  // Metadata of the whole trace, such as its source.
  void set_meta(std::string_view name, std::string_view value);
  // For a trace that ended before its run: the mark stays when the store is finished.
  void set_incomplete() noexcept { is_complete_ = false; }

  void name_process(std::int64_t process, const traced_process& what) override;
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override;
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override;
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override;
  bool knows_device(std::int64_t process, std::uint32_t device) const override;
  void add(std::int64_t process, const traced_event& event) override;
  void add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) override;
  std::uint64_t bytes() const noexcept override { return committed_bytes_ + uncommitted_ * bytes_of_row; }
  std::uint64_t lost() const noexcept override { return lost_; }
  // Commits if enough events or enough time have passed.
  void flush() override;
  void finish() override;

 private:
  std::int64_t find_path(const traced_site& site);
  std::int64_t find_call(const traced_messages& messages);
  std::int64_t find_communicator(const traced_communicator& communicator);
  std::int64_t since_origin(std::uint64_t ns) const noexcept;
  void insert(std::int64_t process, const traced_event& event);
  void commit();
  void leave_one_file() noexcept;
  void create(appears when);
  void close_database() noexcept;
  void report_failure();  // once
  template <class Work>
  void attempt(Work&& work);

  std::string file_, written_;  // `written_`: the name until the file is finished
  std::uint64_t origin_ns_;
  name_speller spelled_;
  std::unique_ptr<sqlite_database> in_;
  sqlite_statement add_path_, add_span_, add_sample_, add_instant_;
  std::unordered_map<const traced_site*, std::int64_t> paths_;
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> same_;  // by parent and the rest of the path
  std::unordered_map<const traced_messages*, std::int64_t> calls_;
  std::unordered_map<const traced_communicator*, std::int64_t> communicators_;
  std::set<std::pair<std::int64_t, std::uint32_t>> threads_, devices_;
  static constexpr std::uint64_t bytes_of_row = 64;  // an approximation; committed rows are counted exactly
  std::uint64_t uncommitted_ = 0, committed_ns_ = 0, committed_bytes_ = 0;
  std::uint64_t lost_ = 0;
  std::unique_ptr<error> failure_;
  bool has_reported_ = false, is_finished_ = false, is_complete_ = true;
};

}  // namespace adaptyst::lib

#endif
