// Reads a whole export for conversion to the common model: ranges and calls below the ranges around them, and
// operations below the ranges in which they were launched.
#include "nsys_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "../support/error.hpp"
#include "nsys_scan.hpp"
#include "nsys_tables.hpp"
#include "process_devices.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* contexts = "TARGET_INFO_CUDA_CONTEXT_INFO";
constexpr const char* numbers = "TARGET_INFO_CUDA_DEVICE";

// Whether a table of that name contains events in some version of the format, and whether they are read.
bool is_event_table(std::string_view name) {
  const auto begins_with = [name](std::string_view what) { return is_same_name(name.substr(0, what.size()), what); };
  return begins_with("CUPTI_ACTIVITY_") || begins_with("NVTX_EVENTS");
}
bool is_read(std::string_view name) {
  const auto all = {nsys::kernels, nsys::graphs, nsys::copies, nsys::fills, nsys::runtime, nsys::ranges};
  return std::any_of(all.begin(), all.end(), [name](const char* listed) { return is_same_name(name, listed); });
}

// "cudaLaunchKernel" for "cudaLaunchKernel_v7000".
std::string without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  const bool has_version = at != std::string_view::npos && at + 2 < name.size() &&
                           name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return std::string(has_version ? name.substr(0, at) : name);
}

// Reads one file into a writer.
class conversion {
 public:
  conversion(const nsys_reader& from, const sqlite_database& in, site_list& sites, trace_writer& to,
             std::int64_t shift_ns, bad_rows& bad, unplaced_events& unplaced)
      : from_(from),
        in_(in),
        sites_(sites),
        to_(to),
        shift_ns_(shift_ns),
        bad_(bad),
        unplaced_(unplaced),
        scopes_(sites, to, unplaced),
        devices_(sort_devices(from.devices())),
        strings_(in, nsys::strings, {nsys::string_text}) {}

  // Nested ranges and calls; sorted by begin if the writer needs it.
  void read_scopes() {
    read_ranges();
    std::vector<source> sources;
    sources.push_back(scopes_.list_ranges());
    add_calls(sources, nsys::runtime, {"start", "end", "globalTid", "nameId", "correlationId"});
    // Their correlation ids have a different meaning.
    add_calls(sources, nsys::system_calls, {"start", "end", "globalTid", "nameId", "no such column"});
    for (const char* const table : nsys::mpi_tables)
      add_calls(sources, table, {"start", "end", "globalTid", "textId", "no such column"});
    scopes_.add_all(sources);
  }

  void read_thread_names() {
    if (!in_.has_table(nsys::thread_names)) return;
    sqlite_statement rows = in_.prepare(in_.select(nsys::thread_names, {"globalTid", "nameId"}), nsys::thread_names);
    std::map<std::int64_t, std::int64_t> names;  // the last of each thread
    while (rows.step()) {
      const std::optional<std::int64_t> global = rows.nonzero(0), name = rows.nonzero(1);
      if (global && name) names[*global] = *name;
    }
    for (const auto& [global, name] : names)
      to_.name_thread(nsys::process_number(global), static_cast<std::uint32_t>(nsys::thread_number(global)),
                      strings_.find(name));
  }

  void read_operations(const char* table, region_kind kind) {
    if (!in_.has_table(table)) return;
    in_.require_columns(table, {"start", "end"});
    const std::string where = place_of(table);
    // Viewers need the operations of a queue in order.
    sqlite_statement rows = in_.prepare(in_.select(table, {"start", "end", "deviceId", "contextId", "globalPid",
                                                           table == nsys::graphs ? "graphId" : nsys::kernel_names,
                                                           "copyKind", "streamId", "correlationId", "bytes"}) +
                                            " ORDER BY 1",
                                        table);
    while (rows.step()) {
      traced_event made;
      const row_place place{where, rows.integer(10)};
      if (!bad_.has_numbers(rows, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, place) || !take_times(rows, place, made)) continue;
      const std::int64_t process = nsys::process_number(rows.integer(4));
      const std::uint32_t physical = from_.physical(process, rows.integer(3), rows.integer(2));
      const std::uint32_t device = physical + 1;  // 0 is the host
      if (!to_.knows_device(process, device)) to_.name_device(process, device, describe_gpu(devices_, physical));
      if (physical == max_devices_in_file) ++unplaced_.other_devices;
      const region_kind what =
          kind == region_kind::copy_to && is_to_host(rows.integer(6)) ? region_kind::copy_from : kind;
      const std::string name = table == nsys::graphs         ? nsys::graph_name(rows.integer(5))
                               : kind == region_kind::kernel ? find_name(rows.nonzero(5))
                               : kind == region_kind::fill   ? std::string("memset")
                                                             : std::string(nsys::copy_kind(rows.integer(6)));
      made.as = traced_as::operation;
      made.queue = static_cast<std::uint64_t>(rows.integer(7));
      made.correlation = static_cast<std::uint64_t>(rows.integer(8));
      made.bytes = static_cast<std::uint64_t>(rows.integer(9));
      const traced_site* const region = scopes_.attribute(process, rows.integer(8), made);
      made.site = sites_.find(name, what, device, region);
      scopes_.add(process, made);
    }
  }

 private:
  using scope = placed_scopes::scope;
  using source = placed_scopes::source;

  std::string place_of(const char* table) const { return fmt::format("{}, table {}", in_.file(), table); }
  std::string find_name(std::optional<std::int64_t> id) { return id ? strings_.find(*id) : std::string(nsys::unnamed); }
  const char* order() const { return to_.needs_order() ? " ORDER BY 1, 2 DESC" : ""; }

  void add_calls(std::vector<source>& to, const char* table, const std::vector<const char*>& columns) {
    if (!in_.has_table(table)) return;
    in_.require_columns(table, {"start", "end"});
    const auto rows = std::make_shared<sqlite_statement>(in_.prepare(in_.select(table, columns) + order(), table));
    to.emplace_back([this, rows, where = place_of(table)](scope& made) {
      while (rows->step()) {
        made = {};
        const row_place place{where, rows->integer(5)};
        if (!bad_.has_numbers(*rows, {0, 1, 2, 3, 4}, place) || !take_times(*rows, place, made.event)) continue;
        const std::int64_t global = rows->integer(2);
        made.process = nsys::process_number(global);
        made.event.thread = static_cast<std::uint32_t>(nsys::thread_number(global));
        const std::string name = without_version(find_name(rows->nonzero(3)));
        const traced_site* const region = scopes_.find_region(made.process, made.event);
        made.event.site = sites_.find(
            name, name.find("Synchronize") != std::string::npos ? region_kind::wait : region_kind::function, 0, region);
        if (const std::optional<std::int64_t> correlation = rows->nonzero(4))
          scopes_.add_call(made.process, *correlation, made.event);
        return true;
      }
      return false;
    });
  }

  // Adds instant events and ranges that may not nest; keeps ranges that nest.
  void read_ranges() {
    if (!in_.has_table(nsys::ranges)) return;
    in_.require_columns(nsys::ranges, {"start", "end", "eventType"});
    const std::string where = place_of(nsys::ranges);
    sqlite_statement rows = in_.prepare(
        in_.select(nsys::ranges, {"start", "end", "globalTid", "textId", "text", "eventType", "color"}) + order(),
        nsys::ranges);
    while (rows.step()) {
      traced_event made;
      const row_place place{where, rows.integer(7)};
      if (!bad_.has_numbers(rows, {0, 1, 2, 3, 5}, place)) continue;
      const std::int64_t kind = rows.integer(5);
      const std::int64_t global = rows.integer(2);
      if (kind != nsys::mark && kind != nsys::push_pop && kind != nsys::start_end)
        continue;  // names of threads, domains, categories
      if (!take_times(rows, place, made, kind == nsys::mark)) continue;
      const std::string name = rows.text(4).empty() ? find_name(rows.nonzero(3)) : std::string(cut_text(rows.text(4)));
      made.thread = static_cast<std::uint32_t>(nsys::thread_number(global));
      made.as = kind == nsys::mark       ? traced_as::instant_event
                : kind == nsys::push_pop ? traced_as::scope
                                         : traced_as::handle;
      // 0: perhaps none. A colour that is no number leaves the range.
      const std::optional<std::int64_t> argb = rows.is_wrong_number(6) ? std::nullopt : rows.nonzero(6);
      const std::uint32_t color = argb ? static_cast<std::uint32_t>(*argb) | 0xFF000000U : 0;
      made.site =
          sites_.find(name, kind == nsys::mark ? region_kind::instant_event : region_kind::region, 0, nullptr, color);
      if (kind == nsys::start_end) ++unplaced_.start_end;
      if (kind == nsys::push_pop) scopes_.add_range(nsys::process_number(global), made);
      else scopes_.add(nsys::process_number(global), made);
    }
    scopes_.place_ranges();
  }

  static bool is_to_host(std::int64_t kind) { return kind == 2 || kind == 4 || kind == 12; }

  bool take_times(const sqlite_statement& rows, const row_place& place, traced_event& made, bool is_instant = false) {
    const std::optional<std::int64_t> start = rows.number(0), end = is_instant ? start : rows.nonzero(1);
    const std::optional<time_span> times = bad_.take_span(start, end, place, max_time_ns, shift_ns_);
    if (times) static_cast<time_span&>(made) = *times;
    return times.has_value();
  }

  const nsys_reader& from_;
  const sqlite_database& in_;
  site_list& sites_;
  trace_writer& to_;
  std::int64_t shift_ns_;
  bad_rows& bad_;
  unplaced_events& unplaced_;
  placed_scopes scopes_;
  devices_by_number devices_;
  text_list strings_;
};

}  // namespace

bool nsys_reader::is_export(const sqlite_database& in) {
  const std::vector<std::string> all = in.tables();
  return std::any_of(all.begin(), all.end(), [](const std::string& name) {
    return is_same_name(name, "META_DATA_EXPORT") || is_event_table(name);
  });
}

nsys_reader::nsys_reader(std::unique_ptr<sqlite_database> in) : in_(std::move(in)) { read_about(); }

void nsys_reader::read_about() {
  const auto each = [this](const char* table, std::initializer_list<const char*> columns, const auto& take) {
    if (!in_->has_table(table)) return;
    sqlite_statement rows = in_->prepare(in_->select(table, columns), table);
    while (rows.step()) take(rows);
  };
  each("META_DATA_EXPORT", {"name", "value"}, [this](const sqlite_statement& row) {
    if (row.text(0) == "EXPORT_PRODUCT_VERSION") product_ = row.text(1);
    if (row.text(0) == "EXPORT_SCHEMA_VERSION") schema_ = row.text(1);
    if (row.text(0) == "SIMULATED") is_simulated_ = true;
  });
  each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"},
       [this](const sqlite_statement& row) { utc_ns_ = row.nonzero(0); });
  each("TARGET_INFO_GPU", {"id", "name", "uuid"}, [this](const sqlite_statement& row) {
    gpus_[row.integer(0)] = {std::string(row.text(1)), std::string(row.text(2))};
  });
  const auto know = [this](std::int64_t id) -> traced_process& {
    const auto [entry, is_new] = processes_.try_emplace(id);
    if (is_new) {
      entry->second.name = fmt::format("process {}", id);
      entry->second.number = id;
    }
    return entry->second;
  };
  each(contexts, {"processId", "contextId", "gpuId"}, [&](const sqlite_statement& row) {
    know(row.integer(0));
    if (const auto gpu = row.number(2)) by_context_[{row.integer(0), row.integer(1)}] = *gpu;
  });
  each(numbers, {"pid", "cudaId", "gpuId"}, [&](const sqlite_statement& row) {
    know(row.integer(0));
    if (const auto gpu = row.number(2)) by_number_[{row.integer(0), row.integer(1)}] = *gpu;
  });
  each("PROCESSES", {"pid", "name"}, [&](const sqlite_statement& row) {
    traced_process& process = know(row.integer(0));
    if (!row.text(1).empty()) process.name = row.text(1);
  });
  each("MPI_RANKS", {"globalTid", "rank"}, [&](const sqlite_statement& row) {
    if (row.number(1).value_or(-1) >= 0)
      know(nsys::process_number(row.integer(0))).rank = static_cast<std::uint32_t>(row.integer(1));
  });
  each("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, [this](const sqlite_statement& row) {
    if (row.text(0) != "Hostname") return;
    for (auto& [id, process] : processes_) process.host = row.text(1);
  });
}

std::uint32_t nsys_reader::physical(std::int64_t process, std::int64_t context, std::int64_t logical) const {
  if (const auto found = by_context_.find({process, context}); found != by_context_.end())
    return limit_device(found->second);
  if (const auto found = by_number_.find({process, logical}); found != by_number_.end())
    return limit_device(found->second);
  return limit_device(logical);
}

std::string nsys_reader::describe() const {
  return fmt::format("Nsight Systems{}{}{}", product_.empty() ? "" : " " + product_,
                     schema_.empty() ? "" : ", schema " + schema_, is_simulated_ ? ", simulated" : "");
}

std::vector<trace_input::device> nsys_reader::devices() const {
  devices_by_number made;
  for (const auto& [id, about] : gpus_) made[limit_device(id)] = {limit_device(id), about.second, about.first};
  for (const auto* const map : {&by_context_, &by_number_})
    for (const auto& [key, gpu] : *map) made.try_emplace(limit_device(gpu), device{limit_device(gpu), {}, {}});
  made.erase(max_devices_in_file);
  std::vector<device> list;
  list.reserve(made.size());
  for (auto& [id, device] : made) list.push_back(std::move(device));
  return list;
}

std::optional<trace_input::users_by_device> nsys_reader::users() const {
  if (by_context_.empty()) return std::nullopt;
  users_by_device made;
  for (const auto& [key, gpu] : by_context_) made[limit_device(gpu)].insert(key.first);
  return made;
}

std::string nsys_reader::missing() const {
  std::string made;
  const auto add = [&made](const std::string& what) { made += (made.empty() ? "" : "; ") + what; };
  if (in_->has_table(nsys::kernels) && by_context_.empty() && by_number_.empty())
    add(fmt::format("{} does not name the GPUs of its processes: devices have the numbers of the processes", file()));
  std::vector<std::string> unread;
  for (const std::string& name : in_->tables())
    if (is_event_table(name) && !is_read(name) &&
        in_->prepare("SELECT 1 FROM " + quoted_name(name) + " LIMIT 1", name).step())
      unread.push_back(name);
  if (!unread.empty()) add(fmt::format("{} has tables that are not read: {}", file(), fmt::join(unread, ", ")));
  return made;
}

void nsys_reader::read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) {
  for (const auto& [id, process] : processes_) to.name_process(id, process);
  unplaced_ = {};
  conversion work(*this, *in_, sites_, to, shift_ns, bad, unplaced_);
  work.read_thread_names();
  work.read_scopes();
  work.read_operations(nsys::kernels, region_kind::kernel);
  work.read_operations(nsys::graphs, region_kind::kernel);
  work.read_operations(nsys::copies, region_kind::copy_to);
  work.read_operations(nsys::fills, region_kind::fill);
}

void nsys_reader::read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const {
  const auto read_table = [&](const char* table, host_call_kind what) {
    if (!in_->has_table(table)) return;
    in_->require_columns(table, {"start", "end"});
    const std::string where = fmt::format("{}, table {}", file(), table);
    sqlite_statement rows = in_->prepare(in_->select(table, {"start", "end", "globalTid"}), table);
    while (rows.step()) {
      const row_place place{where, rows.integer(3)};
      if (!bad.has_numbers(rows, {0, 1, 2}, place)) continue;
      const std::int64_t global = rows.integer(2);
      if (const std::optional<time_span> times = bad.take_span(rows.number(0), rows.nonzero(1), place))
        to({*times, nsys::process_number(global), static_cast<std::uint32_t>(nsys::thread_number(global)), what});
    }
  };
  read_table(nsys::runtime, host_call_kind::device);
  for (const char* const table : nsys::mpi_tables) read_table(table, host_call_kind::mpi);
  read_table(nsys::system_calls, host_call_kind::system);
}

std::unique_ptr<trace_scan> nsys_reader::scan(scan_subject what) const {
  return std::make_unique<nsys_scan>(*this, what);
}

}  // namespace adaptyst::lib
