// A trace in a file: read as a whole into a writer, or scanned by ranges of rows for an analysis.
#ifndef ADAPTYST_LIB_TRACE_TRACE_INPUT_HPP
#define ADAPTYST_LIB_TRACE_TRACE_INPUT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../model/copy_direction.hpp"
#include "sqlite_database.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

// The spans that a scan selects, and the grouping.
enum class scan_subject {
  device_work,   // kernels and copies, by the physical number of the device
  process_work,  // the same, by process
  regions,       // of the host, by process
};

// The role of spans of this kind.
struct scan_role {
  bool is_wanted = false, is_copy = false;
};
scan_role choose_role(region_kind kind, scan_subject what);
// The direction of a copy of this kind and name. A format without a kind for copies between devices has their names.
std::optional<copy_direction> find_direction(region_kind kind, std::string_view name);
constexpr const char* unknown_direction = "direction unknown";  // in the name of a copy

// Times since the trace's begin.
struct scanned_span : time_span {
  std::uint64_t name_or_bytes = 0;  // for trace_scan::name(); of a copy: its bytes, or `unknown_bytes`
  std::uint32_t group = 0;
  bool is_copy = false;
  std::optional<copy_direction> direction = {};  // of a copy; empty: unknown

  static constexpr std::uint64_t unknown_bytes = ~std::uint64_t{0};
  static std::uint64_t find_bytes(std::optional<std::int64_t> number) noexcept {
    return number && *number >= 0 ? static_cast<std::uint64_t>(*number) : unknown_bytes;
  }
};

// Limits of times in ns: 19.5 hours, the limit of histograms, and 2.2 years; twice that can still be counted in
// windows.
constexpr std::uint64_t max_span_ns = std::uint64_t{1} << 46U;
constexpr std::uint64_t max_time_ns = std::uint64_t{1} << 56U;

// The place of a row or record in a file.
struct row_place {
  const std::string& where;  // file and table
  std::int64_t at = 0;
  const char* unit = "row";
};

enum class row_fault { ends_before_start, out_of_range, no_end, no_start, no_path, no_number, no_owner };
constexpr std::size_t row_faults = 7;

// Counts omitted rows by fault, and describes the first one with table and row for messages.
struct bad_rows {
  std::array<std::uint64_t, row_faults> counts{};
  std::string table, first;
  std::int64_t row = 0;

  // The span with these times of a file, plus `shift_ns`. Empty: the times are invalid, and the row is counted. All
  // readers use this check.
  std::optional<time_span> take_span(std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                                     const row_place& place, std::uint64_t max_length_ns = max_span_ns,
                                     std::int64_t shift_ns = 0) {
    if (start && end && is_valid(*start, *end, max_length_ns) && *start + shift_ns >= 0)
      return time_span{static_cast<std::uint64_t>(*start + shift_ns), static_cast<std::uint64_t>(*end + shift_ns)};
    add_no_span(start, end, place, max_length_ns);
    return std::nullopt;
  }
  // Whether these columns of a row contain integers or nothing; if not, counts the row.
  bool has_numbers(const sqlite_statement& row, std::initializer_list<int> columns, const row_place& place);
  // The same for the first columns of a row, and reads them.
  template <std::size_t Count>
  bool read_numbers(const sqlite_statement& from, std::optional<std::int64_t> (&numbers)[Count],
                    const row_place& place) {
    for (std::size_t at = 0; at != Count; ++at)
      if (const int column = static_cast<int>(at); !from.read_number(column, numbers[at])) {
        add_wrong_column(from.name(column), place);
        return false;
      }
    return true;
  }
  void add(row_fault what, const row_place& place, const std::string& words);
  void add_wrong_column(std::string_view column, const row_place& place);
  void add(const bad_rows& more);

  std::uint64_t of(row_fault what) const noexcept { return counts[static_cast<std::size_t>(what)]; }
  std::uint64_t count() const noexcept;
  // "3 rows are left out: 1 end before they start, 2 have no end; the first: FILE, table T, row 7, …"; empty: no
  // faults.
  std::string text() const;

 private:
  static bool is_valid(std::int64_t start, std::int64_t end, std::uint64_t max_length_ns) noexcept {
    return end >= start && start >= 0 && static_cast<std::uint64_t>(end - start) <= max_length_ns &&
           static_cast<std::uint64_t>(end) <= max_time_ns;
  }
  void add_no_span(std::optional<std::int64_t> start, std::optional<std::int64_t> end, const row_place& place,
                   std::uint64_t max_length_ns);
};

// For one thread; several scans of a file may run at the same time.
class trace_scan {
 public:
  struct scanned_table {
    std::string name;
    sqlite_database::row_range rows;
  };
  using taker = std::function<void(const scanned_span* spans, std::size_t count)>;

  trace_scan() = default;
  trace_scan(const trace_scan&) = delete;
  trace_scan& operator=(const trace_scan&) = delete;
  virtual ~trace_scan() = default;

  // The same for all scans of a file.
  virtual const std::vector<scanned_table>& tables() const = 0;
  // The spans in these rows, in parts. Returns the number of rows, including rows without a span. Throws error.
  virtual std::uint64_t scan(std::size_t table, std::int64_t first, std::int64_t last, const taker& to) = 0;
  // False: no row can have a span.
  virtual bool may_have_spans() const { return true; }
  // Whether a search for a range may miss rows without an error, in a damaged file. count_rows() is then the number of
  // rows in all ranges of a table.
  virtual bool may_skip_rows() const { return false; }
  virtual std::uint64_t count_rows(std::size_t /*table*/, const sqlite_database::row_range& /*all*/) { return 0; }
  // The start of the first row at or after this one, if any; used to divide a table by time.
  virtual std::optional<std::uint64_t> start_near(std::size_t table, std::int64_t row) = 0;
  virtual std::string name(std::uint64_t id) = 0;
  const bad_rows& bad() const noexcept { return bad_; }

 protected:
  bad_rows bad_;
};

// A reason why a host thread did not compute.
enum class host_call_kind {
  mpi,
  device,  // calls of a device's library, waits for a device
  system,  // system calls
};
// Times since the trace's begin.
struct host_call : time_span {
  std::int64_t process = 0;
  std::uint32_t thread = 0;
  host_call_kind what = host_call_kind::system;
};
// Empty: a region in which a thread computes, as far as known.
std::optional<host_call_kind> choose_call_kind(const traced_site& site);

class trace_input {
 public:
  // A physical device.
  struct device {
    std::uint32_t physical = 0;
    std::string uuid, name;
  };

  trace_input() = default;
  trace_input(const trace_input&) = delete;
  trace_input& operator=(const trace_input&) = delete;
  virtual ~trace_input() = default;

  virtual const std::string& file() const = 0;
  // A description for messages.
  virtual std::string describe() const = 0;
  // Made by a generator, not measured.
  virtual bool is_simulated() const = 0;
  // The time of day at time 0; empty: unknown.
  virtual std::optional<std::int64_t> utc_ns() const = 0;
  // If the time of day is unknown: the time of a machine's clock at time 0. Empty: unknown, or of several machines.
  struct machine_time {
    std::string machine;
    std::int64_t ns = 0;
  };
  virtual std::optional<machine_time> begin_on_machine() const { return std::nullopt; }
  virtual std::vector<device> devices() const = 0;
  // The processes that use each device, by its physical number. Empty: unknown.
  using users_by_device = std::map<std::uint32_t, std::set<std::int64_t>>;
  virtual std::optional<users_by_device> users() const { return std::nullopt; }
  // The processes in the file, by id.
  virtual std::map<std::int64_t, traced_process> processes() const = 0;
  // False: the trace ends before the run, because the writer was killed.
  virtual bool is_complete() const { return true; }
  // Text about missing events; empty: none.
  virtual std::string missing() const { return {}; }

  // Text about the events of read() without a certain place in a call path; empty: none.
  virtual std::string without_place() const { return {}; }

  // Adds all events, with `shift_ns` added to their times. Sites live as long as this object. Throws error.
  virtual void read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) = 0;
  virtual std::unique_ptr<trace_scan> scan(scan_subject what) const = 0;
  // In any order; rows without a valid span are counted in `bad`. Throws error.
  virtual void read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const = 0;
};

// Selects the reader by the file's contents. Throws error if the file is damaged or no trace.
std::unique_ptr<trace_input> open_trace(const std::string& file);

}  // namespace adaptyst::lib

#endif
