// Reads a whole file for conversion to the common model: ranges and calls below the ranges around them, and operations
// below the ranges in which they were launched.
#include "rocpd_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "../support/error.hpp"
#include "../support/launch_rank.hpp"
#include "process_devices.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* rocpd_counters = "rocpd_pmc_event";
// Other tables with rows have events that this reader does not read.
constexpr const char* read_tables[] = {
    rocpd::kernels, rocpd::copies,  rocpd::regions, rocpd::samples, rocpd::metadata,   rocpd::strings,    rocpd::tracks,
    rocpd::times,   rocpd_counters, "rocpd_event",  "rocpd_arg",    "rocpd_line_info", "rocpd_call_stack"};
bool is_read_table(std::string_view name) {
  constexpr std::string_view about = "rocpd_info_";
  return name.substr(0, about.size()) == about || std::any_of(std::begin(read_tables), std::end(read_tables),
                                                              [name](const char* table) { return name == table; });
}
constexpr std::size_t max_parts_in_file = 4096;
constexpr std::size_t max_table_name = 1024, max_listed_tables = 5;
constexpr std::int64_t max_device = 4096;  // larger numbers are replaced
constexpr std::size_t max_processes_in_file = 65536;

// The suffix of a table's name, after the name in all files; empty: it is another table.
std::optional<std::string> find_suffix(std::string_view table, std::string_view name) {
  if (table.size() > max_table_name || table.substr(0, name.size()) != name) return std::nullopt;
  const std::string_view suffix = table.substr(name.size());
  return suffix.empty() || suffix.front() == '_' ? std::optional(std::string(suffix)) : std::nullopt;
}

// Counters by event, in the order of events: for a second table that is in the same order. Rows with other values than
// numbers are counted in `bad`.
class counter_values {
 public:
  counter_values(const sqlite_database& in, const rocpd::part& part, bad_rows& bad)
      : names_(in, part.table("rocpd_info_pmc"), {"symbol", "name"}), bad_(bad) {
    const std::string table = part.table(rocpd_counters);
    if (!in.has_table(table)) return;
    in.require_columns(table, {"event_id", "pmc_id", "value"});
    where_ = fmt::format("{}, table {}", in.file(), table);
    rows_ = in.prepare(
        fmt::format("SELECT event_id, pmc_id, value, typeof(value) IN ('integer', 'real'), {} FROM {} ORDER BY 1",
                    in.row_number_name(table), quoted_name(table)),
        table);
    has_row_ = next();
  }
  bool are_at_end() const { return !has_row_; }
  // Calls take(name, value) for the values of this event.
  template <class Take>
  void take(std::int64_t event, const Take& take) {
    while (has_row_ && rows_.integer(0) < event) has_row_ = next();
    for (; has_row_ && rows_.integer(0) == event; has_row_ = next()) {
      take(names_.find(rows_.integer(1)), rows_.real(2));
      ++used_;
    }
  }
  std::uint64_t used() const { return used_; }
  // After the last row.
  std::uint64_t count() {
    while (has_row_) has_row_ = next();
    return count_;
  }

 private:
  // Rows without an event, a counter or a number are not used.
  bool next() {
    while (rows_.step()) {
      const row_place place{where_, rows_.integer(4)};
      if (!bad_.has_numbers(rows_, {0, 1}, place)) continue;
      const bool has_value = !rows_.is_null(2);
      if (has_value && (rows_.integer(3) == 0 || !std::isfinite(rows_.real(2)))) {
        bad_.add(row_fault::no_number, place, "has no finite number in its column value");
        continue;
      }
      ++count_;
      if (rows_.number(0) && rows_.number(1) && has_value) return true;
    }
    return false;
  }

  text_list names_;
  bad_rows& bad_;
  std::string where_;
  std::uint64_t used_ = 0, count_ = 0;
  sqlite_statement rows_;
  bool has_row_ = false;
};

// Reads one file into a writer.
class rocpd_conversion {
 public:
  rocpd_conversion(const rocpd_reader& from, const sqlite_database& in, site_list& sites, trace_writer& to,
                   std::int64_t shift_ns, bad_rows& bad, unplaced_events& unplaced)
      : from_(from),
        in_(in),
        sites_(sites),
        to_(to),
        shift_ns_(shift_ns),
        bad_(bad),
        unplaced_(unplaced),
        scopes_(sites, to, unplaced),
        devices_(sort_devices(from.devices())) {
    for (const rocpd::part& part : from.parts()) all_.emplace_back(in, part);
  }

  void read() {
    for (const rocpd::part& part : from_.parts())
      for (const auto& [number, thread] : part.threads)
        if (!thread.name.empty() && thread.process && thread.number != rocpd::unknown_thread)
          to_.name_thread(*thread.process, thread.number, thread.name);
    for (rocpd::lookups& of : all_) read_ranges(of);
    scopes_.place_ranges();
    std::vector<placed_scopes::source> sources{scopes_.list_ranges()};
    for (rocpd::lookups& of : all_) add_calls(sources, of);
    scopes_.add_all(sources);
    for (rocpd::lookups& of : all_) {
      read_kernels(of);
      read_copies(of);
      const std::uint64_t of_samples = read_samples(of);
      read_counters(of, of_samples);
    }
  }

  // Values of counters without a certain kernel or sample.
  std::uint64_t unused_values() const { return unused_values_; }

 private:
  using order = rocpd::lookups::order;
  static constexpr int place_at = 2, other = rocpd::lookups::first_other;

  std::optional<sqlite_statement> list_regions(const rocpd::lookups& of, order by) const {
    return of.list_events(in_, rocpd::regions, {"name_id", "event_id"}, by);
  }

  struct region {
    std::int64_t process = 0;
    traced_event event;
    rocpd::described_region about;
    std::int64_t correlation = 0, parent = 0;
  };
  // Empty: it has no valid times, or a different role.
  std::optional<region> take_region(const sqlite_statement& row, rocpd::lookups& of, bool wants_calls, bad_rows& bad) {
    region made;
    if (!take_times(row, of, rocpd::regions, other + 2, made.event, bad)) return std::nullopt;
    const std::optional<rocpd::placement> at = of.places.take(row, place_at, {where_, row.integer(other + 2)}, bad);
    if (!at) return std::nullopt;
    const rocpd::event_details& details = of.events.find(row.number(other + 1));
    made.about = describe_region(rocpd::lookups::find_name(of.texts, row.number(other)), details,
                                 made.event.begin_ns == made.event.end_ns);
    if ((made.about.role == rocpd::region_role::call) != wants_calls) return std::nullopt;
    if (at->thread == rocpd::unknown_thread && made.about.role == rocpd::region_role::range)
      made.about.role = rocpd::region_role::start_end;
    made.correlation = details.correlation;
    made.parent = details.parent;
    made.process = at->process;
    made.event.thread = at->thread;
    name_unknown_thread(made.process, made.event.thread);
    return made;
  }

  void name_unknown_thread(std::int64_t process, std::uint32_t thread) {
    if (thread == rocpd::unknown_thread && !to_.knows_thread(process, thread))
      to_.name_thread(process, thread, "(thread unknown)");
  }

  void read_ranges(rocpd::lookups& of) {
    std::optional<sqlite_statement> rows = list_regions(of, to_.needs_order() ? order::nested : order::any);
    while (rows && rows->step()) {
      std::optional<region> made = take_region(*rows, of, false, bad_);
      if (!made) continue;
      made->event.site = sites_.find(made->about.name, made->about.kind, 0);
      made->event.as = made->about.role == rocpd::region_role::mark        ? traced_as::instant_event
                       : made->about.role == rocpd::region_role::start_end ? traced_as::handle
                                                                           : traced_as::scope;
      if (made->about.role == rocpd::region_role::start_end) ++unplaced_.start_end;
      if (made->about.role == rocpd::region_role::range) scopes_.add_range(made->process, made->event);
      else scopes_.add(made->process, made->event);
    }
  }

  void add_calls(std::vector<placed_scopes::source>& to, rocpd::lookups& of) {
    // A call within a call needs the outer call, and its row may be later.
    std::optional<sqlite_statement> found = list_regions(of, order::nested);
    if (!found) return;
    to.emplace_back(
        [this, rows = std::make_shared<sqlite_statement>(std::move(*found)), &of](placed_scopes::scope& made) {
          bad_rows counted_before;  // with the ranges
          while (rows->step()) {
            std::optional<region> call = take_region(*rows, of, true, counted_before);
            if (!call) continue;
            const placed_scopes::call* const outer = find_outer(*call);
            const traced_site* const parent =
                outer != nullptr ? outer->site : scopes_.find_region(call->process, call->event);
            call->event.site = sites_.find(call->about.name, call->about.kind, 0, parent);
            if (call->correlation != 0) scopes_.add_call(call->process, call->correlation, call->event, outer);
            made = {call->process, call->event};
            return true;
          }
          return false;
        });
  }

  // A call within a call has the other's number as its parent, and comes after it.
  const placed_scopes::call* find_outer(const region& call) const {
    const placed_scopes::call* const outer =
        call.parent != 0 && call.parent != call.correlation ? scopes_.find_call(call.process, call.parent) : nullptr;
    return outer != nullptr && outer->thread == call.event.thread && outer->begin_ns <= call.event.begin_ns &&
                   outer->level + 1 < placed_scopes::max_nested_calls
               ? outer
               : nullptr;
  }

  // Viewers need the operations of a queue in order.
  void read_kernels(rocpd::lookups& of) {
    std::optional<sqlite_statement> rows =
        of.list_events(in_, rocpd::kernels, {"kernel_id", "event_id"}, order::by_start);
    while (rows && rows->step()) {
      traced_event made;
      if (!take_times(*rows, of, rocpd::kernels, other + 2, made, bad_)) continue;
      const row_place place{where_, rows->integer(other + 2)};
      const std::optional<rocpd::placement> at = of.places.take(*rows, place_at, place, bad_);
      if (!at) continue;
      const std::optional<rocpd::agent> agent = of.part.find_agent(at->agent);
      if (!agent) rocpd::add_unknown(bad_, "agent", at->agent, place);
      else
        add_operation(of, *at, *agent, rows->number(other + 1),
                      rocpd::lookups::find_name(of.kernel_names, rows->number(other)), region_kind::kernel, made);
    }
  }

  void read_copies(rocpd::lookups& of) {
    std::optional<sqlite_statement> rows =
        of.list_events(in_, rocpd::copies, {"src_agent_id", "dst_agent_id", "size", "event_id"}, order::by_start);
    while (rows && rows->step()) {
      traced_event made;
      if (!take_times(*rows, of, rocpd::copies, other + 4, made, bad_)) continue;
      const std::optional<rocpd::agent> from = of.part.find_agent(rows->number(other)),
                                        to = of.part.find_agent(rows->number(other + 1));
      const bool is_to_host = from && from->is_gpu && to && !to->is_gpu;
      made.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, rows->integer(other + 2)));
      const row_place place{where_, rows->integer(other + 4)};
      const std::optional<rocpd::placement> at = of.places.take(*rows, place_at, place, bad_);
      if (!at) continue;
      const std::optional<rocpd::agent> device = choose_device(from, to);
      if (!device) rocpd::add_unknown(bad_, "agent", rows->number(rows->number(other + 1) ? other + 1 : other), place);
      else
        add_operation(of, *at, *device, rows->number(other + 3), copy_name(from, to),
                      is_to_host ? region_kind::copy_from : region_kind::copy_to, made);
    }
  }

  void add_operation(rocpd::lookups& of, const rocpd::placement& at, const rocpd::agent& agent,
                     std::optional<std::int64_t> event, const std::string& name, region_kind kind, traced_event& made) {
    const std::uint32_t device = agent.physical + 1;  // 0 is the host
    if (!to_.knows_device(at.process, device))
      to_.name_device(
          at.process, device,
          agent.is_gpu ? describe_gpu(devices_, agent.physical) : traced_device{"host memory", agent.physical, {}});
    if (agent.physical == max_devices_in_file) ++unplaced_.other_devices;
    const rocpd::event_details& details = of.events.find(event);
    const std::int64_t correlation = details.correlation != 0 ? details.correlation : details.parent;
    made.as = traced_as::operation;
    made.thread = at.thread;
    made.queue = at.queue;
    made.correlation = static_cast<std::uint64_t>(correlation);
    const traced_site* const region = scopes_.attribute(at.process, correlation, made);
    name_unknown_thread(at.process, made.thread);
    made.site = sites_.find(name, kind, device, region);
    scopes_.add(at.process, made);
  }

  // Instant events of threads, and counters of the machine. Returns the number of values.
  std::uint64_t read_samples(rocpd::lookups& of) {
    const std::string table = of.part.table(rocpd::samples);
    if (!in_.has_table(table)) return 0;
    in_.require_columns(table, {of.part.sample()});
    const std::string where = fmt::format("{}, table {}", in_.file(), table);
    rocpd::row_lookup tracks(in_, of.part, rocpd::tracks, {"name_id"});
    sqlite_statement rows =
        in_.prepare(in_.select(table, {of.part.sample(), "event_id", "name_id", "track_id"}) + " ORDER BY 2", table);
    bad_rows counted_later;  // with the kernels
    counter_values values(in_, of.part, counted_later);
    while (rows.step()) {
      const row_place place{where, rows.integer(4)};
      traced_event made;
      if (!bad_.has_numbers(rows, {0, 1, 2, 3}, place)) continue;
      if (!take_instant(of.times.find(rows.number(0)), of, place, made, bad_)) continue;
      const std::optional<rocpd::placement>& at = of.places.find_track(rows.number(3));
      if (!at) {
        rocpd::add_unknown(bad_, "track", rows.number(3), place);
        continue;
      }
      made.thread = at->thread;
      name_unknown_thread(at->process, made.thread);
      if (rows.number(1) && add_values(at->process, made, values, rows.integer(1))) continue;
      std::optional<std::int64_t> name = rows.number(2);
      if (!name) tracks.find(rows.integer(3), [&](const sqlite_statement& track) { name = track.number(0); });
      const rocpd::event_details& details = of.events.find(rows.number(1));
      made.as = traced_as::instant_event;
      made.site = sites_.find(
          details.message.empty() ? rocpd::lookups::find_name(of.texts, name) : std::string(details.message),
          region_kind::instant_event, 0);
      scopes_.add(at->process, made);
    }
    return values.used();
  }

  // Counters of kernels, as values at their begins. Values of an event of several kernels are left out.
  void read_counters(rocpd::lookups& of, std::uint64_t of_samples) {
    counter_values values(in_, of.part, bad_);
    std::optional<sqlite_statement> rows;
    if (!values.are_at_end()) rows = of.list_events(in_, rocpd::kernels, {"event_id"}, order::by_event);
    struct kernel {
      std::int64_t event = 0, process = 0;
      traced_event begin;
      bool is_single = true;
    };
    std::optional<kernel> last;
    const auto add_last = [&] {
      if (last && last->is_single) add_values(last->process, last->begin, values, last->event);
    };
    while (rows && !values.are_at_end() && rows->step()) {
      bad_rows counted_before;  // with the kernels
      traced_event made;
      if (!rows->number(other) || !take_times(*rows, of, rocpd::kernels, other + 1, made, counted_before)) continue;
      const std::optional<rocpd::placement> at = of.places.find(*rows, place_at);
      if (!at) continue;
      made.thread = at->thread;
      name_unknown_thread(at->process, made.thread);
      made.end_ns = made.begin_ns;
      if (last && last->event == rows->integer(other)) {
        last->is_single = false;
        continue;
      }
      add_last();
      last = {rows->integer(other), at->process, made, true};
    }
    add_last();
    const std::uint64_t used = values.used() + of_samples, all = values.count();
    unused_values_ += all > used ? all - used : 0;
  }

  // False: the event has no values.
  bool add_values(std::int64_t process, traced_event& made, counter_values& from, std::int64_t event) {
    bool has_values = false;
    from.take(event, [&](const std::string& counter, double value) {
      made.as = traced_as::metric;
      made.site = sites_.find(counter, region_kind::metric, 0);
      made.value = value;
      scopes_.add(process, made);
      has_values = true;
    });
    return has_values;
  }

  // `row_at`: the column with the row number.
  bool take_times(const sqlite_statement& row, rocpd::lookups& of, const char* table, int row_at, traced_event& made,
                  bad_rows& bad) {
    if (where_of_ != std::pair<const void*, const char*>(&of, table)) {
      where_of_ = {&of, table};
      where_ = fmt::format("{}, table {}", in_.file(), of.part.table(table));
    }
    const std::optional<time_span> times =
        of.take_times(row, {where_, row.integer(row_at)}, bad, max_time_ns, shift_ns_);
    if (times) static_cast<time_span&>(made) = *times;
    return times.has_value();
  }
  bool take_instant(std::optional<std::int64_t> at, const rocpd::lookups& of, const row_place& place,
                    traced_event& made, bad_rows& bad) const {
    const std::optional<time_span> times = bad.take_span(at, at, place, max_time_ns, shift_ns_ - of.part.begin_ns);
    if (times) static_cast<time_span&>(made) = *times;
    return times.has_value();
  }

  const rocpd_reader& from_;
  const sqlite_database& in_;
  site_list& sites_;
  trace_writer& to_;
  std::int64_t shift_ns_;
  bad_rows& bad_;
  unplaced_events& unplaced_;
  placed_scopes scopes_;
  devices_by_number devices_;
  std::deque<rocpd::lookups> all_;
  std::uint64_t unused_values_ = 0;
  std::pair<const void*, const char*> where_of_;  // the table of `where_`, the last place
  std::string where_;
};

}  // namespace

bool rocpd_reader::is_rocpd(const sqlite_database& in) {
  const std::vector<std::string> all = in.tables();
  return std::any_of(all.begin(), all.end(), [](const std::string& table) {
    return find_suffix(table, rocpd::metadata) || find_suffix(table, rocpd::kernels) ||
           find_suffix(table, rocpd::regions);
  });
}

rocpd_reader::rocpd_reader(std::unique_ptr<sqlite_database> in) : in_(std::move(in)) {
  list_parts();
  std::vector<found_agent> agents;
  for (rocpd::part& part : parts_) read_part(part, agents);
  number_devices(agents);
  // The clocks of machines differ by more than the length of a run.
  std::map<std::string, std::int64_t> begins;
  for (const rocpd::part& part : parts_) {
    if (!part.first_ns) continue;
    const auto [entry, is_new] = begins.try_emplace(part.machine, *part.first_ns);
    if (!is_new) entry->second = std::min(entry->second, *part.first_ns);
  }
  for (rocpd::part& part : parts_) {
    const auto begin = begins.find(part.machine);
    if (begin != begins.end()) part.first_ns = part.begin_ns = begin->second;
  }
}

void rocpd_reader::list_parts() {
  std::set<std::string> suffixes;
  for (const std::string& table : in_->tables()) {
    for (const char* const name :
         {rocpd::metadata, rocpd::strings, rocpd::kernels, rocpd::copies, rocpd::regions, rocpd::samples})
      if (auto suffix = find_suffix(table, name)) suffixes.insert(std::move(*suffix));
  }
  if (suffixes.size() > max_parts_in_file)
    throw error(fmt::format("{} has tables of {} processes, more than {}", file(), suffixes.size(), max_parts_in_file),
                file(), 0, "name the files from which it was made");
  for (const std::string& suffix : suffixes) {
    rocpd::part& part = parts_.emplace_back();
    part.suffix = suffix;
    for (const char* const name : {rocpd::kernels, rocpd::copies, rocpd::regions}) {
      const std::vector<std::string> columns = in_->columns(part.table(name));
      part.has_time_numbers =
          part.has_time_numbers || std::any_of(columns.begin(), columns.end(),
                                               [](const auto& column) { return is_same_name(column, "start_id"); });
    }
  }
}

namespace {

// Calls take(row) for each row of a table, if it exists.
template <class Take>
void each_row(const sqlite_database& in, const std::string& table, const std::vector<const char*>& columns,
              const Take& take) {
  if (!in.has_table(table)) return;
  sqlite_statement rows = in.prepare(in.select(table, columns), table);
  while (rows.step()) take(rows);
}

// "solver" of "./bin/solver --steps 10".
std::string find_program(std::string_view command) {
  const std::string_view first = command.substr(0, command.find(' '));
  return std::string(cut_text(first.substr(first.rfind('/') + 1)));
}

// The environment as `NAME=VALUE`, each followed by a zero.
std::string read_environment_text(std::string_view json) {
  std::string made;
  for (const auto& [name, value] : rocpd::read_texts(json)) made.append(name).append("=").append(value).push_back('\0');
  return made;
}

}  // namespace

void rocpd_reader::read_part(rocpd::part& part, std::vector<found_agent>& agents) {
  each_row(*in_, part.table(rocpd::metadata), {"tag", "value"}, [this](const sqlite_statement& row) {
    if (row.text(0) == "schema_version") schema_ = cut_text(row.text(1));
    if (row.text(0) == "SIMULATED") is_simulated_ = true;
  });
  const std::map<std::int64_t, node> nodes = read_nodes(part);
  part.first_ns = find_begin(part, read_processes(part, nodes));
  each_row(*in_, part.table("rocpd_info_thread"), {"id", "tid", "name", "pid"}, [&](const sqlite_statement& row) {
    part.threads[row.integer(0)] = {part.find_process(row.number(3)), rocpd::to_thread(row.number(1)),
                                    std::string(cut_text(row.text(2)))};
  });
  read_agents(part, nodes, agents);
}

std::map<std::int64_t, rocpd_reader::node> rocpd_reader::read_nodes(const rocpd::part& part) const {
  std::map<std::int64_t, node> made;
  each_row(*in_, part.table("rocpd_info_node"), {"id", "hostname", "machine_id"}, [&](const sqlite_statement& row) {
    made[row.integer(0)] = {std::string(cut_text(row.text(1))), std::string(cut_text(row.text(2)))};
  });
  return made;
}

std::int64_t rocpd_reader::find_free_number() {
  while (processes_.count(next_process_) != 0) --next_process_;
  return next_process_;
}

std::optional<std::int64_t> rocpd_reader::read_processes(rocpd::part& part, const std::map<std::int64_t, node>& nodes) {
  std::optional<std::int64_t> begin_ns;
  each_row(*in_, part.table("rocpd_info_process"), {"id", "nid", "pid", "name", "command", "environment", "init|start"},
           [&](const sqlite_statement& row) {
             if (processes_.size() == max_processes_in_file)
               throw error(fmt::format("{} has more than {} processes", file(), max_processes_in_file), file(), 0,
                           "name the files from which it was made");
             // Processes of several machines may have the same number.
             traced_process made;
             const std::int64_t given = row.number(2).value_or(-1);
             const bool is_free = given >= 0 && given <= rocpd::highest_process && processes_.count(given) == 0;
             const std::int64_t id = is_free ? given : find_free_number();
             made.number = row.number(2).value_or(id);
             made.name = row.text(3).empty() ? find_program(row.text(4)) : std::string(cut_text(row.text(3)));
             if (made.name.empty()) made.name = fmt::format("process {}", made.number);
             if (const auto node = nodes.find(row.integer(1)); node != nodes.end()) {
               made.host = node->second.host;
               part.machine = node->second.machine;
             }
             made.rank = find_rank(read_environment_text(row.text(5)));
             if (row.integer(6) > 0 && (!begin_ns || row.integer(6) < *begin_ns)) begin_ns = row.integer(6);
             part.processes[row.integer(0)] = id;
             processes_[id] = std::move(made);
           });
  return begin_ns;
}

// The begin of a process, unless events are earlier: files without a begin, or with one of another clock.
std::optional<std::int64_t> rocpd_reader::find_begin(const rocpd::part& part,
                                                     std::optional<std::int64_t> process_begin_ns) const {
  std::vector<std::pair<std::string, const char*>> columns;
  if (part.has_time_numbers) columns.emplace_back(part.table(rocpd::times), "value");
  else
    for (const char* const name : {rocpd::kernels, rocpd::copies, rocpd::regions, rocpd::samples})
      columns.emplace_back(part.table(name), name == rocpd::samples ? "timestamp" : "start");
  std::optional<std::int64_t> found = process_begin_ns;
  for (const auto& [table, column] : columns) {
    if (!in_->has_table(table)) continue;
    in_->require_columns(table, {column});
    const std::string name = quoted_name(column);
    sqlite_statement rows =
        in_->prepare(fmt::format("SELECT min({0}) FROM {1} WHERE {0} < ? AND {0} > 0 AND typeof({0}) = 'integer'", name,
                                 quoted_name(table)),
                     table);
    // For most rows only the first comparison runs, and the query takes half the time.
    rows.bind(1, found.value_or(std::numeric_limits<std::int64_t>::max()));
    const std::optional<std::int64_t> first = rows.step() ? rows.number(0) : std::nullopt;
    if (first) found = first;
  }
  return found;
}

void rocpd_reader::read_agents(rocpd::part& part, const std::map<std::int64_t, node>& nodes,
                               std::vector<found_agent>& agents) {
  each_row(*in_, part.table("rocpd_info_agent"),
           {"id", "nid", "type", "absolute_index", "type_index", "product_name", "model_name", "name"},
           [&](const sqlite_statement& row) {
             const auto [entry, is_new] = part.agents.try_emplace(row.integer(0));
             if (!is_new) return;
             entry->second.is_gpu = row.text(2) == "GPU";
             found_agent made{&entry->second, {}, {}, row.number(3).value_or(row.integer(0)), 0};
             made.wanted = row.number(4).value_or(made.on_machine);
             if (const auto node = nodes.find(row.integer(1)); node != nodes.end()) made.machine = node->second.machine;
             for (int column = 5; column != 8 && made.name.empty(); ++column) made.name = cut_text(row.text(column));
             agents.push_back(std::move(made));
           });
}

// GPUs have the numbers that they have among the GPUs of their machine, unless two of different machines have the same.
// The UUIDs in these files are those of models.
void rocpd_reader::number_devices(const std::vector<found_agent>& agents) {
  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> numbers;
  std::set<std::uint32_t> taken;
  for (const bool are_gpus : {true, false})
    for (const found_agent& agent : agents) {
      if (agent.to->is_gpu != are_gpus) continue;
      const auto [entry, is_new] = numbers.try_emplace({agent.machine, agent.on_machine});
      if (is_new) {
        const bool fits = agent.wanted >= 0 && agent.wanted <= max_device;
        auto number = static_cast<std::uint32_t>(fits ? agent.wanted : max_device);
        if (!fits || taken.count(number) != 0) number = taken.empty() ? 0 : *taken.rbegin() + 1;
        number = limit_device(number);
        taken.insert(number);
        entry->second = number;
        const std::string uuid =
            agent.machine.empty() ? std::string() : fmt::format("{}, agent {}", agent.machine, agent.on_machine);
        if (are_gpus && number != max_devices_in_file) devices_.push_back({number, uuid, agent.name});
      }
      agent.to->physical = entry->second;
    }
}

std::optional<trace_input::machine_time> rocpd_reader::begin_on_machine() const {
  if (parts_.empty() || parts_.front().machine.empty() || !parts_.front().first_ns) return std::nullopt;
  for (const rocpd::part& part : parts_)
    if (part.machine != parts_.front().machine) return std::nullopt;
  return machine_time{parts_.front().machine, parts_.front().begin_ns};
}

std::string rocpd_reader::describe() const {
  return fmt::format("rocpd{}{}", schema_.empty() ? "" : ", schema " + schema_, is_simulated_ ? ", simulated" : "");
}

// Rows by table, without the suffix.
std::map<std::string, std::uint64_t> rocpd_reader::count_unread() const {
  std::set<std::string_view> suffixes;
  std::set<std::size_t, std::greater<>> lengths;  // the longest first: a part of a suffix may be one
  for (const rocpd::part& part : parts_) {
    suffixes.insert(part.suffix);
    lengths.insert(part.suffix.size());
  }
  std::map<std::string, std::uint64_t> unread;
  for (const std::string& table : in_->tables()) {
    if (table.size() > max_table_name || table.rfind("rocpd_", 0) != 0) continue;
    const auto length = std::find_if(lengths.begin(), lengths.end(), [&](std::size_t bytes) {
      return bytes <= table.size() && suffixes.count(std::string_view(table).substr(table.size() - bytes)) != 0;
    });
    if (length == lengths.end()) continue;
    const std::string name = table.substr(0, table.size() - *length);
    if (is_read_table(name)) continue;
    if (const std::uint64_t rows = in_->count_rows(table); rows != 0) unread[name] += rows;
  }
  return unread;
}

std::string rocpd_reader::missing() const {
  std::string made;
  const std::map<std::string, std::uint64_t> unread = count_unread();
  std::size_t listed = 0;
  for (const auto& [table, rows] : unread)
    if (listed++ < max_listed_tables) made += fmt::format("{}{} ({} rows)", made.empty() ? "" : ", ", table, rows);
  if (unread.size() > max_listed_tables) made += fmt::format(" and {} more", unread.size() - max_listed_tables);
  if (!made.empty()) made = fmt::format("{} has tables that are not read: {}", file(), made);
  if (std::any_of(parts_.begin(), parts_.end(),
                  [this](const rocpd::part& part) { return part.machine != parts_.front().machine; }))
    made +=
        fmt::format("{}{} is of several machines, which are aligned at their begin", made.empty() ? "" : "; ", file());
  return made;
}

std::string rocpd_reader::without_place() const {
  std::string made = unplaced_.text(file());
  if (unused_values_ != 0)
    made +=
        fmt::format("{}{}: {} values of counters are not read: their event is of no kernel or sample, or of several",
                    made.empty() ? "" : "; ", file(), unused_values_);
  return made;
}

void rocpd_reader::read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) {
  for (const auto& [id, process] : processes_) to.name_process(id, process);
  unplaced_ = {};
  rocpd_conversion work(*this, *in_, sites_, to, shift_ns, bad, unplaced_);
  work.read();
  unused_values_ = work.unused_values();
}

std::unique_ptr<trace_scan> rocpd_reader::scan(scan_subject what) const { return rocpd::make_scan(*this, what); }

void rocpd_reader::read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const {
  constexpr int other = rocpd::lookups::first_other;
  for (const rocpd::part& part : parts_) {
    rocpd::lookups of(*in_, part);
    std::optional<sqlite_statement> rows =
        of.list_events(*in_, rocpd::regions, {"name_id", "event_id"}, rocpd::lookups::order::any);
    const std::string where = fmt::format("{}, table {}", file(), part.table(rocpd::regions));
    while (rows && rows->step()) {
      const row_place place{where, rows->integer(other + 2)};
      const std::optional<time_span> times = of.take_times(*rows, place, bad, max_span_ns, 0);
      if (!times) continue;
      const std::optional<rocpd::placement> at = of.places.take(*rows, 2, place, bad);
      if (!at) continue;
      const rocpd::described_region about =
          describe_region(rocpd::lookups::find_name(of.texts, rows->number(other)),
                          of.events.find(rows->number(other + 1)), times->begin_ns == times->end_ns);
      if (const auto kind = choose_call_kind({about.name, about.kind, 0, nullptr}))
        to({*times, at->process, at->thread, *kind});
    }
  }
}

}  // namespace adaptyst::lib
