// Reads only the data that an analysis needs: few columns of ranges of rows, in any order, on any thread.
#include "nsys_scan.hpp"

#include <fmt/format.h>

#include <array>

#include "nsys_tables.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t rows_at_once = 2048;
// Number ranges for graphs and texts in rows, above those of StringIds.
constexpr std::uint64_t of_graphs = std::uint64_t{1} << 61U;
constexpr std::uint64_t of_texts = std::uint64_t{1} << 63U;

}  // namespace

const char* nsys::copy_kind(std::int64_t kind) {
  static constexpr std::array names = {"copy, kind unknown",     "copy host to device",
                                       "copy device to host",    "copy host to array",
                                       "copy array to host",     "copy array to array",
                                       "copy array to device",   "copy device to array",
                                       "copy device to device",  "copy host to host",
                                       "copy device to another", "unified memory to device",
                                       "unified memory to host", "unified memory, device to device"};
  return kind >= 0 && static_cast<std::size_t>(kind) < names.size() ? names[static_cast<std::size_t>(kind)] : names[0];
}

std::optional<copy_direction> nsys::copy_direction_of(std::int64_t kind) {
  switch (kind) {
    case 1:
    case 3:
    case 11: return copy_direction::to_device;
    case 2:
    case 4:
    case 12: return copy_direction::to_host;
    case 5:
    case 6:
    case 7:
    case 8:
    case 10:
    case 13: return copy_direction::between_devices;
    default: return std::nullopt;
  }
}

std::string nsys::graph_name(std::int64_t id) { return fmt::format("CUDA graph {}", id); }

nsys_scan::nsys_scan(const nsys_reader& from, scan_subject what)
    : from_(from),
      what_(what),
      in_(from.file(), sqlite_database::opened::to_read),
      strings_(in_, nsys::strings, {nsys::string_text}) {
  if (what == scan_subject::regions) {
    add(nsys::ranges, kind::ranges);
  } else {
    add(nsys::kernels, kind::kernels);
    add(nsys::graphs, kind::graphs);
    add(nsys::copies, kind::copies);
  }
}

void nsys_scan::add(const char* name, kind what) {
  if (!in_.has_table(name)) return;
  if (what == kind::ranges) in_.require_columns(name, {"start", "end", "eventType"});
  else in_.require_columns(name, {"start", "end"});
  tables_.push_back({name, in_.rows(name)});
  kinds_.push_back(what);
  rows_.emplace_back();
}

std::uint32_t nsys_scan::find_group(std::int64_t global, std::int64_t context, std::int64_t device) {
  const auto place = static_cast<std::size_t>((context ^ device << 1 ^ global >> 24) & 15);
  known_group& entry = known_groups_[place];
  if (global == entry.global && context == entry.context && device == entry.device) return entry.group;
  const std::int64_t process = nsys::process_number(global);
  entry = {global, context, device,
           what_ == scan_subject::device_work ? from_.physical(process, context, device)
                                              : static_cast<std::uint32_t>(process)};
  return entry.group;
}

std::uint64_t nsys_scan::scan(std::size_t table, std::int64_t first, std::int64_t last, const taker& to) {
  const std::string& name = tables_[table].name;
  const kind what = kinds_[table];
  if (rows_[table] == nullptr) {
    std::vector<row_taker::column> columns = {{"start"}, {"end"}};
    if (what == kind::ranges) columns.insert(columns.end(), {{"globalTid"}, {"textId"}, {"text", true}, {"eventType"}});
    else columns.insert(columns.end(), {{"deviceId"}, {"contextId"}, {"globalPid"}});
    if (what == kind::copies) columns.insert(columns.end(), {{"bytes"}, {"copyKind"}});
    if (what == kind::graphs) columns.push_back({"graphId"});
    if (what == kind::kernels) columns.push_back({nsys::kernel_names});
    rows_[table] = std::make_unique<row_taker>(in_, name, columns);
  }
  const std::string where = fmt::format("{}, table {}", in_.file(), name);
  some_.clear();
  const row_taker::taker take = [&](const taken_row& row) {
    if (what == kind::ranges) add_range(row, {where, row.row});
    else add_work(what, row, {where, row.row});
    if (some_.size() < rows_at_once) return;
    to(some_.data(), some_.size());
    some_.clear();
  };
  const sqlite_database::row_range& all = tables_[table].rows;
  using walk = row_taker::walk;
  const walk how = first <= all.first && last >= all.last ? walk::whole : walk::range;
  const std::uint64_t count = rows_[table]->take(how, first, last, take);
  to(some_.data(), some_.size());
  return count;
}

void nsys_scan::add_work(kind what, const taken_row& row, const row_place& place) {
  if (__builtin_expect(row.wrong_column != nullptr, 0)) return bad_.add_wrong_column(row.wrong_column, place);
  const std::optional<time_span> times = bad_.take_span(row.number(0), row.nonzero(1), place);
  if (__builtin_expect(!times, 0)) return;
  const std::uint64_t name_or_bytes =
      what == kind::copies
          ? scanned_span::find_bytes(row.number(5))
          : (what == kind::graphs ? of_graphs : 0) | (static_cast<std::uint64_t>(row.integer(5)) & (of_graphs - 1));
  // Member by member: a copy of the struct would wait for both values to be in memory.
  some_.push_back({{times->begin_ns, times->end_ns},
                   name_or_bytes,
                   find_group(row.integer(4), row.integer(3), row.integer(2)),
                   what == kind::copies,
                   what == kind::copies ? nsys::copy_direction_of(row.integer(6)) : std::nullopt});
}

void nsys_scan::add_range(const taken_row& row, const row_place& place) {
  if (row.wrong_column != nullptr) return bad_.add_wrong_column(row.wrong_column, place);
  if (const std::int64_t type = row.integer(5); type != nsys::push_pop && type != nsys::start_end) return;
  const std::optional<time_span> times = bad_.take_span(row.number(0), row.nonzero(1), place);
  if (!times) return;
  std::uint64_t name = static_cast<std::uint64_t>(row.integer(3)) & (of_graphs - 1);
  if (!row.text(4).empty()) {
    const auto [entry, is_new] = texts_.try_emplace(std::string(row.text(4)), of_texts | listed_texts_.size());
    if (is_new) listed_texts_.push_back(entry->first);
    name = entry->second;
  }
  some_.push_back({*times, name, static_cast<std::uint32_t>(nsys::process_number(row.integer(2))), false, {}});
}

std::uint64_t nsys_scan::count_rows(std::size_t table, const sqlite_database::row_range& all) {
  return in_.count_rows(tables_[table].name, all);
}

std::optional<std::uint64_t> nsys_scan::start_near(std::size_t table, std::int64_t row) {
  // Kept for hundreds of queries: preparing one takes longer than finding the row.
  nearest_.resize(tables_.size());
  std::optional<sqlite_statement>& statement = nearest_[table];
  if (!statement) statement = in_.prepare_nearest(tables_[table].name, "start");
  statement->bind(1, row);
  std::optional<std::uint64_t> found;
  if (statement->step() && statement->integer(0) >= 0 &&
      static_cast<std::uint64_t>(statement->integer(0)) <= max_time_ns)
    found = static_cast<std::uint64_t>(statement->integer(0));
  statement->reset();
  return found;
}

std::string nsys_scan::name(std::uint64_t id) {
  if ((id & of_texts) != 0) return listed_texts_[static_cast<std::size_t>(id ^ of_texts)];
  if ((id & of_graphs) != 0) return nsys::graph_name(static_cast<std::int64_t>(id ^ of_graphs));
  return id != 0 ? strings_.find(static_cast<std::int64_t>(id)) : std::string(nsys::unnamed);
}

}  // namespace adaptyst::lib
