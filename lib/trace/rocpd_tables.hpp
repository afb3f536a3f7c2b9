// Tables of rocpd files, and the rows that their rows refer to by number.
//
// Rows are looked up one by one: SQLite would plan a join by the file's indexes and statistics, which may be missing or
// wrong.
#ifndef ADAPTYST_LIB_TRACE_ROCPD_TABLES_HPP
#define ADAPTYST_LIB_TRACE_ROCPD_TABLES_HPP

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sqlite_database.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

class rocpd_reader;

namespace rocpd {

constexpr const char* metadata = "rocpd_metadata";
constexpr const char* strings = "rocpd_string";
constexpr const char* kernels = "rocpd_kernel_dispatch";
constexpr const char* copies = "rocpd_memory_copy";
constexpr const char* regions = "rocpd_region";
constexpr const char* samples = "rocpd_sample";
constexpr const char* tracks = "rocpd_track";
constexpr const char* times = "rocpd_timestamp";  // of schema 4.0

constexpr std::int64_t highest_process = (std::int64_t{1} << 22U) - 1;  // a trace_set needs 22 bits

inline const std::string unnamed = "(unnamed)";

struct agent {
  std::uint32_t physical = 0;
  bool is_gpu = false;
};

// The thread of events without one, which no thread of Linux is.
constexpr std::uint32_t unknown_thread = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint32_t to_thread(std::optional<std::int64_t> number) {
  return number && *number >= 0 && *number < unknown_thread ? static_cast<std::uint32_t>(*number) : unknown_thread;
}

struct thread {
  std::optional<std::int64_t> process;
  std::uint32_t number = unknown_thread;
  std::string name;
};

// The tables of one process.
struct part {
  std::string suffix;             // of their names
  bool has_time_numbers = false;  // schema 4.0: rows have numbers of times, which are in a separate table
  std::string machine;
  std::optional<std::int64_t> first_ns;  // the begin of its first process, or its first event; empty: unknown
  std::int64_t begin_ns = 0;             // the time in the file that is time 0
  // By the numbers in the file.
  std::map<std::int64_t, std::int64_t> processes;
  std::map<std::int64_t, thread> threads;
  std::map<std::int64_t, agent> agents;

  std::string table(const char* name) const { return name + suffix; }
  // Columns with times, or numbers of times.
  const char* start() const { return has_time_numbers ? "start_id" : "start"; }
  const char* end() const { return has_time_numbers ? "end_id" : "end"; }
  const char* sample() const { return has_time_numbers ? "timestamp_id" : "timestamp"; }
  // A number that is not in the file counts as the number of the process or thread itself, if Linux has such numbers.
  // In a file with a single process, all events are of this process.
  std::optional<std::int64_t> find_process(std::optional<std::int64_t> number) const;
  std::uint32_t find_thread(std::optional<std::int64_t> number) const;
  // Empty: no such agent in the file.
  std::optional<agent> find_agent(std::optional<std::int64_t> number) const;
};

// Counts a row without a known process or agent. `number` is the number in the row.
void add_unknown(bad_rows& to, const char* what, std::optional<std::int64_t> number, const row_place& place);

// Rows of a table that another table refers to, by column `id`. Usually it is the row number; otherwise the numbers of
// all rows are kept.
class row_lookup {
 public:
  row_lookup(const sqlite_database& in, const part& of, const char* name, std::vector<const char*> columns);

  // Calls take(row) if there is such a row. Values are valid until it returns.
  template <class Take>
  void find(std::int64_t id, const Take& take) {
    if (!find_row_) return;
    std::int64_t row = id;
    if (rows_) {
      const auto found = rows_->find(id);
      if (found == rows_->end()) return;
      row = found->second;
    }
    find_row_.bind(1, row);
    if (find_row_.step() && find_row_.number(id_column_) == id) take(std::as_const(find_row_));
    find_row_.reset();
  }

 private:
  int id_column_;
  sqlite_statement find_row_;
  std::optional<std::unordered_map<std::int64_t, std::int64_t>> rows_;  // row numbers by id
};

// The place of an event: columns of its row, or, since schema 4, its track.
struct placement {
  std::int64_t process = 0;
  std::uint32_t thread = unknown_thread;
  std::optional<std::int64_t> agent;
  std::uint64_t queue = 0;
};

class placement_list {
 public:
  static constexpr int columns = 6;
  static std::vector<const char*> names();

  placement_list(const sqlite_database& in, const part& of);
  // `first`: the first of these columns in the row. Empty: the process is unknown.
  std::optional<placement> find(const sqlite_statement& row, int first) {
    const std::optional<std::int64_t> track = row.number(first + columns - 1);
    return track ? find_track(track) : make(row, first);
  }
  // The same, but counts the row if the process is unknown.
  std::optional<placement> take(const sqlite_statement& row, int first, const row_place& place, bad_rows& bad);
  const std::optional<placement>& find_track(std::optional<std::int64_t> track);

 private:
  std::optional<placement> make(const sqlite_statement& row, int first) const;

  const part& part_;
  row_lookup tracks_;
  std::unordered_map<std::optional<std::int64_t>, std::optional<placement>> placements_;
};

// The times of rows.
class time_lookup {
 public:
  time_lookup(const sqlite_database& in, const part& of);

  std::optional<std::int64_t> find(std::optional<std::int64_t> value) {
    return part_.has_time_numbers && value ? find_number(*value) : value;
  }
  // 0 is no end.
  std::optional<std::int64_t> find_end(std::optional<std::int64_t> value) {
    const std::optional<std::int64_t> found = find(value);
    return found == 0 ? std::nullopt : found;
  }
  // SQL for the time of a column of this table.
  std::string sorted(const std::string& table, const char* column) const;

 private:
  std::optional<std::int64_t> find_number(std::int64_t number);

  const part& part_;
  std::string select_;  // SQL for the time with a number
  row_lookup times_;
};

// The link between a call and its operations, and the description of a marker.
struct event_details {
  std::int64_t correlation = 0, parent = 0;  // of the call; 0: none
  std::string_view category, message;

  bool is_marker() const;
};

class event_list {
 public:
  event_list(const sqlite_database& in, const part& of, text_list& texts);
  // Valid until the next call.
  const event_details& find(std::optional<std::int64_t> id);

 private:
  const std::string& find_message(std::int64_t id);

  row_lookup events_, details_;
  std::unordered_map<std::int64_t, std::string> messages_;  // by event, as far as memory allows
  std::size_t message_bytes_ = 0;
  std::optional<text_list> categories_;  // schema 3 has them among the other texts
  text_list& texts_;
  event_details found_;
};

enum class region_role {
  call,       // of a library
  range,      // nests with others of its thread
  start_end,  // may end on another thread
  mark,
};
struct described_region {
  std::string name;
  region_kind kind = region_kind::region;
  region_role role = region_role::range;
};
described_region describe_region(const std::string& name, const event_details& of, bool is_instant);

// The lookups of a process's tables, in one connection.
struct lookups {
  lookups(const sqlite_database& in, const part& of);

  // The rows of a table with events: start, end, a placement, other columns, and the row number. Empty: no such table.
  // Throws error if the table lacks a column other than those of the placement.
  enum class order { any, by_start, nested, by_event };
  static constexpr int first_other = 2 + placement_list::columns;
  std::optional<sqlite_statement> list_events(const sqlite_database& in, const char* name,
                                              const std::vector<const char*>& others, order by) const;
  // The times of such a row, checked with the others by bad_rows; empty: they are invalid, or a column is no number.
  std::optional<time_span> take_times(const sqlite_statement& row, const row_place& place, bad_rows& bad,
                                      std::uint64_t max_length_ns, std::int64_t shift_ns);

  // The name with this number; empty: no number.
  static const std::string& find_name(text_list& in, std::optional<std::int64_t> number) {
    return number ? in.find(*number) : unnamed;
  }

  const rocpd::part& part;
  text_list texts, kernel_names;
  placement_list places;
  time_lookup times;
  event_list events;
};

const char* copy_name(std::optional<agent> from, std::optional<agent> to);
std::optional<copy_direction> find_direction(std::optional<agent> from, std::optional<agent> to);
// The device of a copy; empty: unknown.
std::optional<agent> choose_device(std::optional<agent> from, std::optional<agent> to);

// Members of a JSON object that are texts, by name; empty: it is no object. Deeper values are not kept.
std::map<std::string, std::string> read_texts(std::string_view json);

// In rocpd_scan.cpp.
std::unique_ptr<trace_scan> make_scan(const rocpd_reader& from, scan_subject what);

}  // namespace rocpd

}  // namespace adaptyst::lib

#endif
