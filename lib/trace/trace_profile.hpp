// The sums of a trace by call path, as rows of a profile: calls, times, threads, and bytes of copies and fills.
#ifndef ADAPTYST_LIB_TRACE_TRACE_PROFILE_HPP
#define ADAPTYST_LIB_TRACE_TRACE_PROFILE_HPP

#include <adaptyst/profile.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace_writer.hpp"

namespace adaptyst::lib {

// The name of the row of a site. The steps of PyTorch's profiler, "ProfilerStep#7", are calls of a single model.
std::string row_name(const traced_site& site);

// Rows with the same path on the same physical device are one row, of all processes. Metrics and instant events are not
// in it. Quantiles and self times are not computed. The names of all paths have a limit of 32 MiB; further rows are
// below "(unknown)".
class trace_profile final : public trace_writer {
 public:
  trace_profile();

  void name_process(std::int64_t process, const traced_process& what) override;
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override;
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override;
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override;
  bool knows_device(std::int64_t process, std::uint32_t device) const override;
  void add(std::int64_t process, const traced_event& event) override;
  void add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) override;
  std::uint64_t lost() const noexcept override { return 0; }
  void flush() override {}
  void finish() override {}

  // Whether rows are below "(unknown)".
  bool has_unknown_beginnings() const noexcept { return has_unknown_beginnings_; }
  // Parents come before children. A process lasts from its first to its last event; one without events is left out.
  profile take();
  // Limits of the figures.
  std::vector<std::string> remarks() const override;

 private:
  using row_key = std::tuple<std::uint64_t, std::string, region_kind, std::uint32_t>;  // id of the parent, name, …
  struct row_sums {
    std::size_t row = 0;
    bool has_unknown_bytes = false;
    std::set<std::pair<std::int64_t, std::uint32_t>> threads{};
  };

  row_sums& find_row(std::int64_t process, const traced_site& site);
  row_sums& add_row(row_sums* around, const traced_site& site, std::uint32_t device);
  std::uint32_t find_device(std::int64_t process, std::uint32_t number);

  profile made_;
  std::map<row_key, row_sums> rows_;
  std::map<std::pair<std::int64_t, const traced_site*>, row_sums*> rows_of_sites_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> devices_;  // by process and number
  std::map<std::int64_t, std::pair<process_info, time_span>> processes_;
  std::set<std::pair<std::int64_t, std::uint32_t>> threads_;
  std::map<std::string, std::uint64_t> losses_;  // by reason
  std::size_t path_bytes_ = 0;
  bool has_unknown_beginnings_ = false;
};

}  // namespace adaptyst::lib

#endif
