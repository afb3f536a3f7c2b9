// Reads a whole export, for conversion: each table into the one model, ranges and calls below the ranges around them, and
// operations below the ranges in which they were launched.
#include "nsys_reader.hpp"

#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <vector>

#include "../support/error.hpp"
#include "containment.hpp"
#include "nsys_scan.hpp"
#include "nsys_tables.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* contexts = "TARGET_INFO_CUDA_CONTEXT_INFO";
constexpr const char* numbers = "TARGET_INFO_CUDA_DEVICE";

constexpr std::int64_t push_pop = 59;

// "cudaLaunchKernel" of "cudaLaunchKernel_v7000".
std::string without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  const bool has_version = at != std::string_view::npos && at + 2 < name.size() &&
                           name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return std::string(has_version ? name.substr(0, at) : name);
}

// More are not held in memory: then nothing stands below ranges.
constexpr std::size_t max_held_ranges = 4'000'000;

struct call {
  std::uint64_t start_ns = 0;
  std::uint32_t thread = 0;
  const traced_site* region = nullptr;  // around it
};

// The push and pop ranges of one thread.
struct thread_ranges {
  std::vector<contained_span> spans;           // as they are in the file
  std::vector<const traced_site*> flat_sites;  // of these
  containment held;
  std::vector<const traced_site*> sites;  // of those that are held, with their parents
};

// Reads one file into a writer.
class conversion {
 public:
  conversion(const nsys_reader& from, const sqlite_database& in, nsys::site_list& sites, trace_writer& to,
             std::int64_t shift_ns, bad_rows& bad, nsys::unplaced& unplaced)
      : from_(from),
        in_(in),
        sites_(sites),
        to_(to),
        shift_ns_(shift_ns),
        bad_(bad),
        unplaced_(unplaced),
        strings_(in) {}

  void read_calls(const char* table, std::initializer_list<const char*> columns) {
    if (!in_.has_table(table)) return;
    sqlite_statement rows = in_.prepare(in_.select(table, columns), table);
    while (rows.step()) {
      traced_event made;
      if (!take_times(rows, table, 5, made)) continue;
      const std::int64_t global = rows.integer(2);
      made.thread = static_cast<std::uint32_t>(nsys::thread_number(global));
      const std::string name = without_version(strings_.find(rows.integer(3)));
      const traced_site* const region = find_region(nsys::process_number(global), made);
      made.site = sites_.find(
          name, name.find("Synchronize") != std::string::npos ? region_kind::wait : region_kind::function, 0, region);
      if (!rows.is_null(4))
        calls_[{nsys::process_number(global), rows.integer(4)}] = {made.begin_ns, made.thread, region};
      add(nsys::process_number(global), made);
    }
  }

  void read_ranges() {
    if (!in_.has_table(nsys::ranges)) return;
    sqlite_statement rows = in_.prepare(
        in_.select(nsys::ranges, {"start", "end", "globalTid", "textId", "text", "eventType"}), nsys::ranges);
    while (rows.step()) {
      traced_event made;
      const std::string name = rows.is_null(4) ? strings_.find(rows.integer(3)) : std::string(rows.text(4));
      const std::int64_t kind = rows.integer(5);
      const std::int64_t global = rows.integer(2);
      constexpr std::int64_t mark = 34, start_end = 60;
      if (kind != mark && kind != push_pop && kind != start_end) continue;  // names of threads, domains, categories
      if (kind != mark && rows.is_null(1)) {
        ++bad_.open;
        continue;
      }
      if (!take_times(rows, nsys::ranges, 6, made, kind == mark)) continue;
      made.thread = static_cast<std::uint32_t>(nsys::thread_number(global));
      made.as = kind == mark ? traced_as::mark : kind == push_pop ? traced_as::scope : traced_as::handle;
      made.site = sites_.find(name, kind == mark ? region_kind::mark : region_kind::region, 0);
      if (kind == push_pop && hold(nsys::process_number(global), made)) continue;
      add(nsys::process_number(global), made);
    }
    place_ranges();
  }

  void read_operations(const char* table, region_kind kind) {
    if (!in_.has_table(table)) return;
    // Viewers want the operations of a queue in their order.
    sqlite_statement rows = in_.prepare(
        in_.select(table, {"start", "end", "deviceId", "contextId", "globalPid", "demangledName|shortName|graphId",
                           "copyKind", "streamId", "correlationId", "bytes"}) +
            " ORDER BY 1",
        table);
    while (rows.step()) {
      traced_event made;
      if (!take_times(rows, table, 10, made)) continue;
      const std::int64_t process = nsys::process_number(rows.integer(4));
      const std::uint32_t physical = from_.physical(process, rows.integer(3), rows.integer(2));
      const std::uint32_t device = physical + 1;  // 0 is the host
      if (!to_.knows_device(process, device)) name_device(process, device, physical);
      const region_kind what =
          kind == region_kind::copy_to && is_to_host(rows.integer(6)) ? region_kind::copy_from : kind;
      const std::string name = table == nsys::graphs         ? nsys::graph_name(rows.integer(5))
                               : kind == region_kind::kernel ? strings_.find(rows.integer(5))
                               : kind == region_kind::fill   ? std::string("memset")
                                                             : std::string(nsys::copy_kind(rows.integer(6)));
      made.as = traced_as::operation;
      made.queue = static_cast<std::uint64_t>(rows.integer(7));
      made.correlation = static_cast<std::uint64_t>(rows.integer(8));
      made.bytes = static_cast<std::uint64_t>(rows.integer(9));
      const traced_site* region = nullptr;
      if (const auto found = calls_.find({process, rows.integer(8)}); found != calls_.end() && !rows.is_null(8)) {
        made.submitted_ns = found->second.start_ns;
        made.thread = found->second.thread;
        region = found->second.region;
      } else ++unplaced_.unattributed;
      made.site = sites_.find(name, what, device, region);
      add(process, made);
    }
  }

 private:
  // False: it is to be added as it is.
  bool hold(std::int64_t process, const traced_event& range) {
    if (unplaced_.has_too_many_ranges) return false;
    if (held_ == max_held_ranges) {
      unplaced_.has_too_many_ranges = true;
      add_held_flat();
      return false;
    }
    ++held_;
    thread_ranges& of = ranges_[{process, range.thread}];
    of.spans.push_back({range.begin_ns, range.end_ns, 0, static_cast<std::uint32_t>(of.spans.size())});
    of.flat_sites.push_back(range.site);
    return true;
  }

  void add_range(const std::pair<std::int64_t, std::uint32_t>& thread, const contained_span& times,
                 const traced_site* site) {
    traced_event made;
    made.site = site;
    made.thread = thread.second;
    made.begin_ns = times.begin_ns;
    made.end_ns = times.end_ns;
    add(thread.first, made);
  }

  void add_held_flat() {
    for (const auto& [thread, of] : ranges_)
      for (std::size_t i = 0; i != of.spans.size(); ++i) add_range(thread, of.spans[i], of.flat_sites[i]);
    ranges_.clear();
  }

  void place_ranges() {
    for (auto& [thread, of] : ranges_) {
      of.held = containment(std::move(of.spans));
      unplaced_.ranges += of.held.spans().size();
      unplaced_.ambiguous += of.held.ambiguous();
      for (std::size_t i = 0; i != of.held.spans().size(); ++i) {
        const contained_span& one = of.held.spans()[i];
        const traced_site& flat = *of.flat_sites[one.given];
        const std::uint32_t parent = of.held.parent(i);
        of.sites.push_back(
            parent == containment::none ? &flat : sites_.find(flat.name, flat.kind, flat.device, of.sites[parent]));
        add_range(thread, one, of.sites.back());
      }
      of.flat_sites = {};
    }
  }

  const traced_site* find_region(std::int64_t process, const traced_event& call) const {
    const auto found = ranges_.find({process, call.thread});
    if (found == ranges_.end()) return nullptr;
    const std::uint32_t place = found->second.held.find(call.begin_ns, call.end_ns);
    return place == containment::none ? nullptr : found->second.sites[place];
  }

  static bool is_to_host(std::int64_t kind) { return kind == 2 || kind == 4 || kind == 12; }

  bool take_times(const sqlite_statement& rows, const char* table, int row, traced_event& made,
                  bool is_instant = false) {
    const std::int64_t start = rows.integer(0), end = is_instant ? start : rows.integer(1);
    const bool is_in_order = end >= start;
    const bool is_in_range = start >= 0 && static_cast<std::uint64_t>(end) <= max_time_ns && start + shift_ns_ >= 0;
    if (is_in_order && is_in_range) {
      made.begin_ns = static_cast<std::uint64_t>(start + shift_ns_);
      made.end_ns = static_cast<std::uint64_t>(end + shift_ns_);
      return true;
    }
    ++(is_in_order ? bad_.out_of_range : bad_.ends_before_start);
    if (bad_.first.empty())
      bad_.first = fmt::format("{}, table {}, row {}: {} to {}", in_.file(), table, rows.integer(row), start, end);
    return false;
  }

  void name_device(std::int64_t process, std::uint32_t device, std::uint32_t physical) {
    traced_device made{fmt::format("gpu{}", physical), physical, {}};
    for (const trace_input::device& one : from_.devices())
      if (one.physical == physical) {
        made.uuid = one.uuid;
        if (!one.name.empty()) made.name += " " + one.name;
      }
    to_.name_device(process, device, made);
  }

  void add(std::int64_t process, const traced_event& event) {
    if (!to_.knows_thread(process, event.thread))
      to_.name_thread(process, event.thread, fmt::format("thread {}", event.thread));
    to_.add(process, event);
  }

  struct hash {
    std::size_t operator()(const std::pair<std::int64_t, std::int64_t>& key) const {
      return std::hash<std::uint64_t>{}(static_cast<std::uint64_t>(key.first) * 0x9e3779b97f4a7c15 +
                                        static_cast<std::uint64_t>(key.second));
    }
  };

  const nsys_reader& from_;
  const sqlite_database& in_;
  nsys::site_list& sites_;
  trace_writer& to_;
  std::int64_t shift_ns_;
  bad_rows& bad_;
  nsys::unplaced& unplaced_;
  nsys::string_ids strings_;
  std::map<std::pair<std::int64_t, std::uint32_t>, thread_ranges> ranges_;  // by process and thread
  std::size_t held_ = 0;
  std::unordered_map<std::pair<std::int64_t, std::int64_t>, call, hash> calls_;
};

}  // namespace

bool nsys_reader::is_export(const sqlite_database& in) {
  for (const char* const one : {"META_DATA_EXPORT", nsys::kernels, nsys::copies, nsys::runtime, nsys::ranges})
    if (in.has_table(one)) return true;
  return false;
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
  each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [this](const sqlite_statement& row) {
    if (!row.is_null(0)) utc_ns_ = row.integer(0);
  });
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
    if (!row.is_null(2)) by_context_[{row.integer(0), row.integer(1)}] = row.integer(2);
  });
  each(numbers, {"pid", "cudaId", "gpuId"}, [&](const sqlite_statement& row) {
    know(row.integer(0));
    if (!row.is_null(2)) by_number_[{row.integer(0), row.integer(1)}] = row.integer(2);
  });
  each("PROCESSES", {"pid", "name"}, [&](const sqlite_statement& row) { know(row.integer(0)).name = row.text(1); });
  each("MPI_RANKS", {"globalTid", "rank"}, [&](const sqlite_statement& row) {
    if (!row.is_null(1) && row.integer(1) >= 0)
      know(nsys::process_number(row.integer(0))).rank = static_cast<std::uint32_t>(row.integer(1));
  });
  each("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, [this](const sqlite_statement& row) {
    if (row.text(0) != "Hostname") return;
    for (auto& [id, process] : processes_) process.host = row.text(1);
  });
}

std::uint32_t nsys_reader::physical(std::int64_t process, std::int64_t context, std::int64_t logical) const {
  if (const auto found = by_context_.find({process, context}); found != by_context_.end())
    return static_cast<std::uint32_t>(found->second);
  if (const auto found = by_number_.find({process, logical}); found != by_number_.end())
    return static_cast<std::uint32_t>(found->second);
  return static_cast<std::uint32_t>(logical);
}

std::string nsys_reader::describe() const {
  return fmt::format("Nsight Systems{}{}{}", product_.empty() ? "" : " " + product_,
                     schema_.empty() ? "" : ", schema " + schema_, is_simulated_ ? ", simulated" : "");
}

std::vector<trace_input::device> nsys_reader::devices() const {
  std::map<std::int64_t, device> made;
  for (const auto& [id, about] : gpus_) made[id] = {static_cast<std::uint32_t>(id), about.second, about.first};
  for (const auto* const map : {&by_context_, &by_number_})
    for (const auto& [key, gpu] : *map) made.try_emplace(gpu, device{static_cast<std::uint32_t>(gpu), {}, {}});
  std::vector<device> list;
  list.reserve(made.size());
  for (auto& [id, one] : made) list.push_back(std::move(one));
  return list;
}

std::string nsys_reader::missing() const {
  const bool has_work = in_->has_table(nsys::kernels);
  if (has_work && by_context_.empty() && by_number_.empty())
    return fmt::format("{} does not say which GPUs its processes used: devices have the numbers of the processes",
                       file());
  return {};
}

std::string nsys_reader::without_place() const {
  if (unplaced_.has_too_many_ranges)
    return fmt::format("{} has more than {} ranges that nest: nothing is put below them", file(), max_held_ranges);
  if (unplaced_.ranges == 0) return {};
  std::string said;
  if (unplaced_.ambiguous != 0)
    said = fmt::format(
        "{} of {} ranges are ambiguous: they overlap others of their thread in part, and are not below those",
        unplaced_.ambiguous, unplaced_.ranges);
  if (unplaced_.unattributed != 0)
    said +=
        fmt::format("{}{} operations are unattributed: no call is known that launched them, so they are below no range",
                    said.empty() ? "" : "; ", unplaced_.unattributed);
  return said.empty() ? said : fmt::format("{}: {}", file(), said);
}

void nsys_reader::read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) {
  for (const auto& [id, process] : processes_) to.name_process(id, process);
  unplaced_ = {};
  conversion work(*this, *in_, sites_, to, shift_ns, bad, unplaced_);
  work.read_ranges();
  work.read_calls(nsys::runtime, {"start", "end", "globalTid", "nameId", "correlationId"});
  // Their correlation ids, where they have any, are of another kind.
  work.read_calls(nsys::system_calls, {"start", "end", "globalTid", "nameId", "no such column"});
  for (const char* const table : nsys::mpi_tables)
    work.read_calls(table, {"start", "end", "globalTid", "textId", "no such column"});
  work.read_operations(nsys::kernels, region_kind::kernel);
  work.read_operations(nsys::graphs, region_kind::kernel);
  work.read_operations(nsys::copies, region_kind::copy_to);
  work.read_operations(nsys::fills, region_kind::fill);
}

void nsys_reader::read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const {
  const auto read_table = [&](const char* table, host_call_kind what) {
    if (!in_->has_table(table)) return;
    const std::string where = fmt::format("{}, table {}", file(), table);
    sqlite_statement rows = in_->prepare(in_->select(table, {"start", "end", "globalTid"}), table);
    while (rows.step()) {
      const std::int64_t start = rows.integer(0), end = rows.integer(1), global = rows.integer(2);
      if (rows.is_null(1)) bad.add_open(where, rows.integer(3));
      if (rows.is_null(1) || !bad.is_span(start, end, where, rows.integer(3))) continue;
      to({nsys::process_number(global), static_cast<std::uint32_t>(nsys::thread_number(global)),
          static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end), what});
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
