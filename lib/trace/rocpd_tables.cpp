#include "rocpd_tables.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "../support/error.hpp"
#include "nsys_tables.hpp"
#include "process_devices.hpp"

namespace adaptyst::lib::rocpd {

namespace {

// Queues without a stream have numbers above those of streams.
constexpr std::uint64_t above_streams = std::uint64_t{1} << 32U;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

constexpr std::size_t max_json_bytes = std::size_t{4} << 20U, max_event_json_bytes = std::size_t{64} << 10U;
// The memory for messages; beyond it, they are read again.
constexpr std::size_t max_messages = std::size_t{1} << 16U, max_message_bytes = std::size_t{1} << 26U;

}  // namespace

std::optional<std::int64_t> part::find_process(std::optional<std::int64_t> number) const {
  if (processes.size() == 1) return processes.begin()->second;
  if (!number) return std::nullopt;
  const auto found = processes.find(*number);
  if (found != processes.end()) return found->second;
  return *number > 0 && *number <= highest_process ? number : std::nullopt;
}

std::uint32_t part::find_thread(std::optional<std::int64_t> number) const {
  if (!number) return unknown_thread;
  const auto found = threads.find(*number);
  return found != threads.end() ? found->second.number : to_thread(number);
}

std::optional<agent> part::find_agent(std::optional<std::int64_t> number) const {
  if (!number) return std::nullopt;
  const auto found = agents.find(*number);
  return found != agents.end() ? std::optional(found->second) : std::nullopt;
}

void add_unknown(bad_rows& to, const char* what, std::optional<std::int64_t> number, const row_place& place) {
  to.add(
      row_fault::no_owner, place,
      number ? fmt::format("has the {} {}, which is not in the file", what, *number) : fmt::format("has no {}", what));
}

row_lookup::row_lookup(const sqlite_database& in, const part& of, const char* name, std::vector<const char*> columns)
    : id_column_(static_cast<int>(columns.size())) {
  const std::string table = of.table(name);
  if (!in.has_table(table)) return;
  in.require_columns(table, {"id"});
  columns.push_back("id");
  find_row_ = in.prepare_row(table, columns);
  if (in.is_row_number(table, "id")) return;
  rows_.emplace();
  sqlite_statement rows = in.prepare(in.select(table, {"id"}), table);
  while (rows.step())
    if (const std::optional<std::int64_t> id = rows.number(0)) rows_->try_emplace(*id, rows.integer(1));
}

std::vector<const char*> placement_list::names() {
  return {"pid", "tid", "agent_id", "stream_id", "queue_id", "track_id"};
}

placement_list::placement_list(const sqlite_database& in, const part& of)
    : part_(of), tracks_(in, of, tracks, {"pid", "tid", "agent_id", "stream_id", "queue_id"}) {}

const std::optional<placement>& placement_list::find_track(std::optional<std::int64_t> track) {
  const auto [entry, is_new] = placements_.try_emplace(track);
  std::optional<placement>& made = entry->second;
  if (!is_new) return made;
  if (track) tracks_.find(*track, [&](const sqlite_statement& row) { made = make(row, 0); });
  else if (const auto process = part_.find_process(std::nullopt)) made.emplace().process = *process;
  return made;
}

std::optional<placement> placement_list::take(const sqlite_statement& row, int first, const row_place& place,
                                              bad_rows& bad) {
  std::optional<placement> made = find(row, first);
  const std::optional<std::int64_t> track = row.number(first + columns - 1);
  if (!made) add_unknown(bad, track ? "track" : "process", track ? track : row.number(first), place);
  return made;
}

std::optional<placement> placement_list::make(const sqlite_statement& row, int first) const {
  const std::optional<std::int64_t> process = part_.find_process(row.number(first));
  if (!process) return std::nullopt;
  placement made;
  made.process = *process;
  made.thread = part_.find_thread(row.number(first + 1));
  made.agent = row.number(first + 2);
  const std::int64_t stream = row.integer(first + 3);
  made.queue = stream != 0 ? static_cast<std::uint64_t>(stream)
                           : above_streams + static_cast<std::uint64_t>(row.integer(first + 4));
  return made;
}

time_lookup::time_lookup(const sqlite_database& in, const part& of)
    : part_(of), times_(in, of, rocpd::times, {"value"}) {
  const std::string table = of.table(rocpd::times);
  if (!of.has_time_numbers || !in.has_table(table)) return;
  // Rows are sorted by these times, and each search must be fast.
  if (!in.is_row_number(table, "id"))
    throw error(fmt::format("{}, table {}: column id is not the row number", in.file(), table), in.file(), 0,
                "create the table with id INTEGER PRIMARY KEY");
  select_ =
      // A text would be in each row that refers to it.
      fmt::format(
          "SELECT CASE WHEN typeof(times.value) <> 'text' AND typeof(times.value) <> 'blob' THEN times.value END FROM {} AS times WHERE times.{}",
          quoted_name(table), in.row_number_name(table));
}

std::optional<std::int64_t> time_lookup::find_number(std::int64_t number) {
  std::optional<std::int64_t> found;
  times_.find(number, [&](const sqlite_statement& row) { found = row.number(0); });
  return found;
}

std::string time_lookup::sorted(const std::string& table, const char* column) const {
  // The table of times may have a column of this name.
  std::string name = quoted_name(table) + "." + quoted_name(column);
  if (!part_.has_time_numbers) return name;
  return select_.empty() ? std::string("NULL") : fmt::format("({} = {})", select_, name);
}

bool event_details::is_marker() const { return has(category, "MARKER") || has(category, "marker"); }

event_list::event_list(const sqlite_database& in, const part& of, text_list& texts)
    : events_(in, of, "rocpd_event", {"stack_id", "parent_stack_id", "category_id"}),
      details_(in, of, "rocpd_event", {"extdata"}),
      texts_(texts) {
  if (const std::string table = of.table("rocpd_info_category"); in.has_table(table))
    categories_.emplace(in, table, std::vector<const char*>{"name"});
}

const event_details& event_list::find(std::optional<std::int64_t> id) {
  found_ = {};
  if (id)
    events_.find(*id, [this, id](const sqlite_statement& row) {
      found_.correlation = row.integer(0);
      found_.parent = row.integer(1);
      if (const auto category = row.number(2)) found_.category = (categories_ ? *categories_ : texts_).find(*category);
      if (found_.is_marker()) found_.message = find_message(*id);
    });
  return found_;
}

// Any number of rows may refer to an event with a large text, so the text is read and parsed once.
const std::string& event_list::find_message(std::int64_t id) {
  if (const auto entry = messages_.find(id); entry != messages_.end()) return entry->second;
  if (messages_.size() >= max_messages || message_bytes_ >= max_message_bytes) {
    messages_.clear();
    message_bytes_ = 0;
  }
  std::string& made = messages_[id];
  details_.find(id, [&made](const sqlite_statement& row) {
    if (const std::string_view json = row.text(0); json.size() <= max_event_json_bytes)
      made = cut_text(read_texts(json)["message"]);
  });
  message_bytes_ += made.size();
  return made;
}

// Schema 3 has the name of a marker in the event's details, and the name of the function as the region's; schema 4 has
// them the other way round.
described_region describe_region(const std::string& name, const event_details& of, bool is_instant) {
  if (of.is_marker()) {
    const auto is_function = [](std::string_view text) { return text.substr(0, 5) == "roctx"; };
    const bool is_swapped = is_function(name) && !of.message.empty() && !is_function(of.message);
    const std::string_view function = is_swapped ? std::string_view(name) : of.message;
    std::string made(is_swapped ? of.message : std::string_view(name));
    if (is_instant || function.rfind("roctxMark", 0) == 0)
      return {std::move(made), region_kind::instant_event, region_role::mark};
    return {std::move(made), region_kind::region,
            function.rfind("roctxRangeStart", 0) == 0 ? region_role::start_end : region_role::range};
  }
  // Page faults and the like, which have no thread.
  if (of.category.rfind("KFD", 0) == 0) return {name, region_kind::region, region_role::start_end};
  const bool is_call = has(of.category, "API") || has(of.category, "api") || of.category.rfind("mpi", 0) == 0 ||
                       of.category.rfind("pthread", 0) == 0 ||
                       choose_call_kind({name, region_kind::function, 0, nullptr}).has_value();
  if (!is_call) return {name, region_kind::region, region_role::range};
  const bool waits = has(name, "Synchronize") || has(name, "hsa_signal_wait");
  return {name, waits ? region_kind::wait : region_kind::function, region_role::call};
}

lookups::lookups(const sqlite_database& in, const rocpd::part& of)
    : part(of),
      texts(in, of.table(strings), {"string"}),
      kernel_names(in, of.table("rocpd_info_kernel_symbol"), {"display_name", "kernel_name"}),
      places(in, of),
      times(in, of),
      events(in, of, texts) {}

std::optional<sqlite_statement> lookups::list_events(const sqlite_database& in, const char* name,
                                                     const std::vector<const char*>& others, order by) const {
  const std::string table = part.table(name);
  if (!in.has_table(table)) return std::nullopt;
  std::vector<const char*> columns = {part.start(), part.end()};
  in.require_columns(table, columns);
  in.require_columns(table, others);
  for (const char* const column : placement_list::names()) columns.push_back(column);
  columns.insert(columns.end(), others.begin(), others.end());
  std::string sql = in.select(table, columns);
  if (by == order::by_event) sql += " ORDER BY event_id";
  else if (by != order::any) sql += " ORDER BY " + times.sorted(table, part.start());
  if (by == order::nested) sql += fmt::format(", {} DESC", times.sorted(table, part.end()));
  return in.prepare(sql, table);
}

std::optional<time_span> lookups::take_times(const sqlite_statement& row, const row_place& place, bad_rows& bad,
                                             std::uint64_t max_length_ns, std::int64_t shift_ns) {
  for (int column = 0; column != row.columns() - 1; ++column)
    if (!bad.has_numbers(row, {column}, place)) return std::nullopt;
  return bad.take_span(times.find(row.number(0)), times.find_end(row.number(1)), place, max_length_ns,
                       shift_ns - part.begin_ns);
}

std::map<std::string, std::string> read_texts(std::string_view json) {
  std::map<std::string, std::string> made;
  if (json.size() > max_json_bytes || json.size() <= sizeof "{}") return made;
  const auto is_kept = [](int depth, nlohmann::json::parse_event_t /*event*/, const nlohmann::json& /*value*/) {
    return depth < 2;
  };
  const nlohmann::json parsed = nlohmann::json::parse(json, is_kept, false);
  if (!parsed.is_object()) return made;
  for (const auto& [name, value] : parsed.items())
    if (value.is_string()) made[name] = value.get<std::string>();
  return made;
}

// Kinds of copies have the names that they have in exports of Nsight Systems.
const char* copy_name(std::optional<agent> from, std::optional<agent> to) {
  constexpr std::int64_t unknown = 0, to_device = 1, to_host = 2, in_device = 8, in_host = 9, to_another = 10;
  if (!from || !to) return nsys::copy_kind(unknown);
  if (!from->is_gpu) return nsys::copy_kind(to->is_gpu ? to_device : in_host);
  if (!to->is_gpu) return nsys::copy_kind(to_host);
  return nsys::copy_kind(from->physical == to->physical ? in_device : to_another);
}

std::optional<copy_direction> find_direction(std::optional<agent> from, std::optional<agent> to) {
  if (!from || !to || (!from->is_gpu && !to->is_gpu)) return std::nullopt;
  if (!from->is_gpu) return copy_direction::to_device;
  return to->is_gpu ? copy_direction::between_devices : copy_direction::to_host;
}

// A copy belongs to the GPU that it goes to, else to the GPU that it comes from.
std::optional<agent> choose_device(std::optional<agent> from, std::optional<agent> to) {
  if (to && to->is_gpu) return to;
  if (from && from->is_gpu) return from;
  return to ? to : from;
}

}  // namespace adaptyst::lib::rocpd
