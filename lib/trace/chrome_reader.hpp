// Reads traces in Chrome's event format, also those of PyTorch's profiler (kineto).
//
// The file is read once, when it is opened: events may be in any order, so they are sorted by time, with limited
// memory. Times are since the earliest event; an event at more than 1.1 years before most others is counted as bad.
#ifndef ADAPTYST_LIB_TRACE_CHROME_READER_HPP
#define ADAPTYST_LIB_TRACE_CHROME_READER_HPP

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chrome_input.hpp"
#include "sorted_records.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

namespace chrome {

enum class record_kind : std::uint8_t {
  scope,
  call,  // of a device's library
  flow_begin,
  flow_end,
  operation,
  handle,
  mark,
  metric,
  // Half an event: joined with its other half after sorting.
  begin,
  end,
  async_begin,
  async_end,
};
enum class record_fault : std::uint8_t { none, no_time, no_start, no_end };

struct record {
  static constexpr std::int64_t unknown_time = std::numeric_limits<std::int64_t>::min();

  std::int64_t begin_ns = 0, end_ns = 0;  // of the file's clock
  std::uint64_t offset = 0;               // in the file
  std::uint64_t launch = 0;               // links a call or a flow with operations; for halves, the pair; 0: none
  std::uint64_t queue = 0;
  // Records are written to a disk: each byte of them counts.
  union {
    std::uint64_t bytes = 0;
    double value;  // of a metric
  };
  std::int64_t submitted_ns = unknown_time;
  std::uint32_t name = 0, process = 0, thread = 0;
  union {
    std::uint32_t device = 0;  // of an operation
    std::uint32_t shapes;  // of an operator of PyTorch: number of the name with the shapes of its inputs; 0: unknown
  };
  region_kind what = region_kind::region;
  record_kind kind = record_kind::scope;
  record_fault fault = record_fault::none;
  std::uint8_t level = 0;     // of a range or operator of PyTorch, as adaptyst::level; 0: none
  bool is_on_device = false;  // half an event that is not read

  std::optional<adaptyst::level> find_level() const noexcept {
    return level != 0 ? std::optional(static_cast<adaptyst::level>(level)) : std::nullopt;
  }
};
static_assert(sizeof(record) == 80);

// By number of the name and kind; as adaptyst writes them.
using colors = std::map<std::pair<std::uint32_t, region_kind>, std::uint32_t>;

// By begin, with parents before children, and equal operations next to each other.
struct is_earlier {
  bool operator()(const record& a, const record& b) const noexcept;
};
// By begin, then in the order of the file.
struct is_earlier_half {
  bool operator()(const record& a, const record& b) const noexcept;
};

}  // namespace chrome

class chrome_reader final : public trace_input {
 public:
  explicit chrome_reader(std::string file);

  const std::string& file() const override { return file_; }
  std::string describe() const override;
  bool is_simulated() const override { return about_.is_simulated; }
  std::optional<std::int64_t> utc_ns() const override;
  std::vector<device> devices() const override;
  std::map<std::int64_t, traced_process> processes() const override;
  bool is_complete() const override { return about_.cut.empty(); }
  std::string missing() const override;
  std::string without_place() const override;
  void read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) override;
  std::unique_ptr<trace_scan> scan(scan_subject what) const override;
  void read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const override;

  const stored_records<chrome::record>& records() const noexcept { return all_; }
  const std::deque<std::string>& names() const noexcept { return names_; }
  bool has_operations() const noexcept { return !devices_.empty(); }
  // Times since the earliest event. Empty: invalid times; the event is counted in `bad`.
  std::optional<time_span> take_span(const chrome::record& of, bad_rows& bad, std::uint64_t max_length_ns,
                                     std::int64_t shift_ns = 0) const;

 private:
  struct process_names {
    traced_process about;
    std::unordered_map<std::string, std::uint32_t> threads;
    std::set<std::uint32_t> taken;
    std::uint32_t next_thread = std::numeric_limits<std::uint32_t>::max() - 1;  // for threads without a number
    std::map<std::uint32_t, std::string> thread_names;
    bool is_used = false;  // has events of the host, and not only instant events of kineto
    std::uint64_t marks = 0;
    bool launches = false;  // calls a device's library
  };
  struct launched {
    std::uint32_t process = 0, thread = 0;
    std::int64_t begin_ns = 0;
    bool is_ambiguous = false;
  };

  void take(const chrome_event& event);
  void take_name(const chrome_event& event, std::uint32_t process);
  void take_counter(const chrome_event& event, chrome::record& made);
  bool take_operation(const chrome_event& event, chrome::record& made);
  std::uint32_t find_name(std::string_view text);
  std::uint32_t find_process(const std::string& text);
  std::uint32_t find_other_process();
  std::uint32_t find_thread(std::uint32_t process, const std::string& text);
  std::uint32_t find_device(const chrome_event& event, std::uint32_t process);
  void join_halves();
  void sort();
  void resolve(chrome::record& record);
  void find_origin(std::uint64_t timed);
  void find_launching_process();

  std::string file_;
  chrome_file about_;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> name_numbers_;
  chrome::colors colors_;
  std::size_t name_bytes_ = 0;
  std::unordered_map<std::string, std::uint32_t> process_numbers_;
  std::string last_process_;
  std::uint32_t last_process_number_ = 0;
  std::map<std::uint32_t, process_names> processes_;
  std::uint32_t next_process_ = (std::uint32_t{1} << 22U) - 1;  // a trace_set needs 22 bits
  std::optional<std::uint32_t> other_process_;                  // for all beyond the limit
  std::optional<std::uint32_t> launching_process_;
  std::size_t threads_ = 0;
  std::map<std::uint32_t, std::uint32_t> process_devices_;  // for processes that are devices in the trace
  std::map<std::uint32_t, std::string> devices_;            // names by number
  std::uint64_t duplicates_ = 0, not_read_ = 0, other_names_ = 0, other_processes_ = 0, not_finite_ = 0;
  std::uint64_t unattributed_ = 0, ambiguous_ = 0;  // of the last read
  bool has_too_many_paths_ = false;
  // While the file is being read.
  std::unique_ptr<sorted_records<chrome::record, chrome::is_earlier>> sorting_;
  std::unique_ptr<sorted_records<chrome::record, chrome::is_earlier_half>> halves_;
  std::unordered_map<std::uint64_t, launched> launches_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int64_t, std::uint64_t>> flows_;
  chrome::record last_;
  bool has_last_ = false;

  stored_records<chrome::record> all_;
  std::int64_t origin_ns_ = 0;
  std::deque<traced_site> sites_;  // of all events
};

}  // namespace adaptyst::lib

#endif
