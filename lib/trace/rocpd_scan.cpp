// Reads only the data that an analysis needs: few columns of ranges of rows, in any order, on any thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "rocpd_reader.hpp"
#include "rocpd_tables.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t rocpd_rows_at_once = 2048;

class rocpd_scan final : public trace_scan {
 public:
  rocpd_scan(const rocpd_reader& from, scan_subject what);

  const std::vector<scanned_table>& tables() const override { return tables_; }
  std::uint64_t scan(std::size_t table, std::int64_t first, std::int64_t last, const taker& to) override;
  bool may_skip_rows() const override { return true; }
  std::uint64_t count_rows(std::size_t table, const sqlite_database::row_range& all) override {
    return in_.count_rows(tables_[table].name, all);
  }
  std::optional<std::uint64_t> start_near(std::size_t table, std::int64_t row) override;
  std::string name(std::uint64_t id) override { return names_[static_cast<std::size_t>(id)]; }

 private:
  template <class Value>
  struct cached_number {
    std::int64_t number = 0;
    bool is_set = false;
    Value value{};
  };
  template <std::size_t Count, class Value>
  static cached_number<Value>& place_of(std::array<cached_number<Value>, Count>& in, std::int64_t number) {
    return in[static_cast<std::size_t>(number) % Count];
  }

  struct table_state {
    const rocpd::part* part = nullptr;
    std::size_t number = 0;      // of the part
    const char* name = nullptr;  // without the suffix
    bool has_tracks = false;
    bool needs_process = false;                                            // the file has several
    std::unique_ptr<row_taker> rows;                                       // after the first scan
    std::optional<sqlite_statement> nearest;                               // after the first query for a start
    std::optional<std::uint32_t> only_process;                             // the file has no other
    std::unordered_map<std::optional<std::int64_t>, std::uint64_t> names;  // by number in the file
    // The last numbers of rows with their meaning: a search in a map for each row takes longer.
    std::array<cached_number<std::uint64_t>, 64> cached_names{};
    std::array<cached_number<rocpd::agent>, 16> cached_agents{};
  };
  // Columns of rows: few, because SQLite takes most of the time.
  static constexpr std::size_t of_start = 0, of_end = 1, of_name = 2;
  static constexpr std::size_t of_agent = 3;                  // of a kernel; or a track
  static constexpr std::size_t of_target = 2, of_source = 3;  // of a copy
  static constexpr std::size_t of_bytes = 4;
  static constexpr std::size_t of_event = 3;
  static constexpr std::size_t of_process = 4;  // or a track; of a copy, it follows the bytes

  void add(const rocpd::part& part, const char* name, const std::vector<const char*>& needed);
  rocpd::lookups& look_up(const table_state& of) {
    std::optional<rocpd::lookups>& made = all_[of.number];
    if (!made) made.emplace(in_, *of.part);
    return *made;
  }
  std::uint64_t number_name(const std::string& name);
  std::uint64_t find_kernel_name(table_state& of, std::optional<std::int64_t> number);
  // Empty: there is no such agent.
  static std::optional<rocpd::agent> find_agent(table_state& of, std::optional<std::int64_t> number);
  void prepare(table_state& of, const std::string& table);
  void add_kernel(table_state& of, const taken_row& row, const time_span& times, const row_place& place);
  void add_copy(table_state& of, const taken_row& row, const time_span& times, const row_place& place);
  void add_region(table_state& of, const taken_row& row, const time_span& times, const row_place& place);
  // Empty: it is unknown; counts the row.
  std::optional<std::uint32_t> take_process(const table_state& of, const taken_row& row, const row_place& place);

  scan_subject what_;
  sqlite_database in_;                             // a separate connection
  std::deque<std::optional<rocpd::lookups>> all_;  // by part, after its first scan
  std::vector<scanned_table> tables_;
  std::vector<table_state> states_;
  std::vector<scanned_span> some_;
  std::unordered_map<std::string, std::uint64_t> numbers_;  // of names
  std::deque<std::string> names_;
};

rocpd_scan::rocpd_scan(const rocpd_reader& from, scan_subject what)
    : what_(what), in_(from.file(), sqlite_database::opened::to_read) {
  for (const rocpd::part& part : from.parts()) {
    if (what == scan_subject::regions) {
      add(part, rocpd::regions, {"name_id"});
    } else {
      add(part, rocpd::kernels, {"kernel_id"});
      add(part, rocpd::copies, {"src_agent_id", "dst_agent_id"});
    }
    all_.emplace_back();
  }
}

void rocpd_scan::add(const rocpd::part& part, const char* name, const std::vector<const char*>& needed) {
  const std::string table = part.table(name);
  if (!in_.has_table(table)) return;
  in_.require_columns(table, {part.start(), part.end()});
  in_.require_columns(table, needed);
  const std::vector<std::string> columns = in_.columns(table);
  const bool has_tracks = std::any_of(columns.begin(), columns.end(),
                                      [](const std::string& column) { return is_same_name(column, "track_id"); });
  tables_.push_back({table, in_.rows(table)});
  states_.emplace_back();
  table_state& made = states_.back();
  made.part = &part;
  made.number = all_.size();
  made.name = name;
  made.has_tracks = has_tracks;
  made.needs_process = part.processes.size() != 1;
  if (!made.needs_process && !has_tracks)
    made.only_process = static_cast<std::uint32_t>(part.processes.begin()->second);
}

std::uint64_t rocpd_scan::find_kernel_name(table_state& of, std::optional<std::int64_t> number) {
  cached_number<std::uint64_t>& cached = place_of(of.cached_names, number.value_or(0));
  if (number && cached.is_set && cached.number == *number) return cached.value;
  const auto [entry, is_new] = of.names.try_emplace(number);
  if (is_new) entry->second = number_name(rocpd::lookups::find_name(look_up(of).kernel_names, number));
  if (number) cached = {*number, true, entry->second};
  return entry->second;
}

std::optional<rocpd::agent> rocpd_scan::find_agent(table_state& of, std::optional<std::int64_t> number) {
  cached_number<rocpd::agent>& cached = place_of(of.cached_agents, number.value_or(0));
  if (number && cached.is_set && cached.number == *number) return cached.value;
  const std::optional<rocpd::agent> found = of.part->find_agent(number);
  if (found) cached = {*number, true, *found};
  return found;
}

std::uint64_t rocpd_scan::number_name(const std::string& name) {
  const auto [entry, is_new] = numbers_.try_emplace(name, names_.size());
  if (is_new) names_.push_back(name);
  return entry->second;
}

void rocpd_scan::prepare(table_state& of, const std::string& table) {
  std::vector<row_taker::column> columns = {{of.part->start()}, {of.part->end()}};
  const char* const process = of.has_tracks ? "track_id" : "pid";
  if (of.name == rocpd::kernels) {
    columns.push_back({"kernel_id"});
    columns.push_back({of.has_tracks ? "track_id" : "agent_id"});
    if (!of.has_tracks && of.needs_process) columns.push_back({process});
  } else if (of.name == rocpd::copies) {
    columns.push_back({"dst_agent_id"});
    columns.push_back({"src_agent_id"});
    columns.push_back({"size"});
    if (of.has_tracks || of.needs_process) columns.push_back({process});
  } else {
    columns.push_back({"name_id"});
    columns.push_back({"event_id"});
    columns.push_back({process});
  }
  of.rows = std::make_unique<row_taker>(in_, table, columns);
}

std::uint64_t rocpd_scan::scan(std::size_t table, std::int64_t first, std::int64_t last, const taker& to) {
  table_state& of = states_[table];
  if (of.rows == nullptr) prepare(of, tables_[table].name);
  const std::string where = fmt::format("{}, table {}", in_.file(), tables_[table].name);
  const std::int64_t shift_ns = -of.part->begin_ns;
  rocpd::time_lookup& times = look_up(of).times;
  const auto add_span = of.name == rocpd::kernels  ? &rocpd_scan::add_kernel
                        : of.name == rocpd::copies ? &rocpd_scan::add_copy
                                                   : &rocpd_scan::add_region;
  some_.clear();
  const row_taker::taker take = [&](const taken_row& row) {
    const row_place place{where, row.row};
    if (__builtin_expect(row.wrong_column != nullptr, 0)) return bad_.add_wrong_column(row.wrong_column, place);
    const std::optional<time_span> span = bad_.take_span(
        times.find(row.number(of_start)), times.find_end(row.number(of_end)), place, max_span_ns, shift_ns);
    if (__builtin_expect(!span, 0)) return;
    (this->*add_span)(of, row, *span, place);
    if (some_.size() < rocpd_rows_at_once) return;
    to(some_.data(), some_.size());
    some_.clear();
  };
  const sqlite_database::row_range& all = tables_[table].rows;
  using walk = row_taker::walk;
  const walk how = first <= all.first && last >= all.last ? walk::whole : walk::range;
  const std::uint64_t count = of.rows->take(how, first, last, take);
  to(some_.data(), some_.size());
  return count;
}

std::optional<std::uint32_t> rocpd_scan::take_process(const table_state& of, const taken_row& row,
                                                      const row_place& place) {
  if (of.only_process) return of.only_process;
  std::optional<std::int64_t> number, process;
  const std::size_t at_process = of.name == rocpd::copies ? of_process + 1 : of_process;
  if (of.has_tracks) {
    number = row.number(of.name == rocpd::kernels ? of_agent : at_process);
    if (const std::optional<rocpd::placement>& at = look_up(of).places.find_track(number)) process = at->process;
  } else {
    if (of.needs_process) number = row.number(at_process);
    process = of.part->find_process(number);
  }
  if (!process) rocpd::add_unknown(bad_, of.has_tracks ? "track" : "process", number, place);
  return process ? std::optional(static_cast<std::uint32_t>(*process)) : std::nullopt;
}

void rocpd_scan::add_kernel(table_state& of, const taken_row& row, const time_span& times, const row_place& place) {
  const std::optional<std::uint32_t> process = take_process(of, row, place);
  if (!process) return;
  std::optional<std::int64_t> number = row.number(of_agent);
  if (of.has_tracks) number = look_up(of).places.find_track(number)->agent;
  const std::optional<rocpd::agent> agent = find_agent(of, number);
  if (!agent) return rocpd::add_unknown(bad_, "agent", number, place);
  const std::uint64_t name = find_kernel_name(of, row.number(of_name));
  const std::uint32_t group = what_ == scan_subject::process_work ? *process : agent->physical;
  some_.push_back({{times.begin_ns, times.end_ns}, name, group, false, {}});
}

void rocpd_scan::add_copy(table_state& of, const taken_row& row, const time_span& times, const row_place& place) {
  const std::optional<std::uint32_t> process = take_process(of, row, place);
  if (!process) return;
  const std::optional<std::int64_t> source = row.number(of_source), target = row.number(of_target);
  const std::optional<rocpd::agent> from = find_agent(of, source), to = find_agent(of, target);
  const std::optional<rocpd::agent> device = rocpd::choose_device(from, to);
  if (!device) return rocpd::add_unknown(bad_, "agent", target ? target : source, place);
  const std::uint32_t group = what_ == scan_subject::process_work ? *process : device->physical;
  some_.push_back({{times.begin_ns, times.end_ns},
                   scanned_span::find_bytes(row.number(of_bytes)),
                   group,
                   true,
                   rocpd::find_direction(from, to)});
}

void rocpd_scan::add_region(table_state& of, const taken_row& row, const time_span& times, const row_place& place) {
  const std::optional<std::uint32_t> process = take_process(of, row, place);
  if (!process) return;
  const std::string& name = rocpd::lookups::find_name(look_up(of).texts, row.number(of_name));
  std::uint64_t number = 0;
  // Only these may be markers with a name elsewhere, or instant events.
  if (name.rfind("roctx", 0) == 0 || times.begin_ns == times.end_ns) {
    const rocpd::described_region about =
        describe_region(name, look_up(of).events.find(row.number(of_event)), times.begin_ns == times.end_ns);
    if (about.role == rocpd::region_role::mark) return;
    number = number_name(about.name);
  } else {
    number = number_name(name);
  }
  some_.push_back({{times.begin_ns, times.end_ns}, number, *process, false});
}

std::optional<std::uint64_t> rocpd_scan::start_near(std::size_t table, std::int64_t row) {
  table_state& of = states_[table];
  // Kept for hundreds of queries: preparing one takes longer than finding the row.
  if (!of.nearest) of.nearest = in_.prepare_nearest(tables_[table].name, of.part->start());
  of.nearest->bind(1, row);
  std::optional<std::int64_t> found;
  if (of.nearest->step()) found = look_up(of).times.find(of.nearest->number(0));
  of.nearest->reset();
  const std::int64_t begin_ns = of.part->begin_ns;
  if (!found || *found < begin_ns || static_cast<std::uint64_t>(*found) > max_time_ns) return std::nullopt;
  return static_cast<std::uint64_t>(*found - begin_ns);
}

}  // namespace

std::unique_ptr<trace_scan> rocpd::make_scan(const rocpd_reader& from, scan_subject what) {
  return std::make_unique<rocpd_scan>(from, what);
}

}  // namespace adaptyst::lib
