// Reads a store row by row and checks each row, because another process or a person may have written it.
#include "store_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "../support/error.hpp"
#include "../support/levels.hpp"
#include "store_schema.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t spans_at_once = 2048;

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number made{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), made);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return made;
}

region_kind find_kind(std::string_view word) {
  for (int kind = 0; kind <= static_cast<int>(region_kind::metric); ++kind)
    if (word == to_string(static_cast<region_kind>(kind))) return static_cast<region_kind>(kind);
  return region_kind::other;
}

class store_scan final : public trace_scan {
 public:
  store_scan(const store_reader& from, scan_subject what)
      : from_(from),
        what_(what),
        in_(from.file(), sqlite_database::opened::to_read),
        rows_(in_, "span", {{"start"}, {"end"}, {"path"}, {"process"}, {"bytes"}}) {
    tables_.push_back({"span", in_.rows("span")});
    // adaptyst numbers paths from 1; another writer may use any numbers.
    for (const auto& [id, path] : from.paths())
      if (id >= 0 && id < max_listed_roles) {
        if (static_cast<std::size_t>(id) >= listed_roles_.size())
          listed_roles_.resize(static_cast<std::size_t>(id) + 1);
        listed_roles_[static_cast<std::size_t>(id)] = role(path);
      } else {
        roles_[id] = role(path);
      }
  }

  const std::vector<scanned_table>& tables() const override { return tables_; }

  std::uint64_t scan(std::size_t /*table*/, std::int64_t first, std::int64_t last, const taker& to) override {
    const std::string where = in_.file() + ", table span";
    some_.clear();
    const row_taker::taker take = [&](const taken_row& row) {
      const row_place place{where, row.row};
      if (__builtin_expect(row.wrong_column != nullptr, 0)) return bad_.add_wrong_column(row.wrong_column, place);
      const std::int64_t path = row.integer(2), process = row.integer(3);
      const role_of_path* const found = find_role(path);
      if (found == nullptr || !found->is_wanted) return;
      const std::optional<time_span> times = bad_.take_span(row.number(0), row.number(1), place);
      if (!times) return;
      const std::uint32_t group = what_ == scan_subject::device_work ? find_device(process, found->device)
                                                                     : static_cast<std::uint32_t>(process);
      const std::uint64_t name_or_bytes =
          found->is_copy ? scanned_span::find_bytes(row.number(4)) : static_cast<std::uint64_t>(path);
      some_.push_back({{times->begin_ns, times->end_ns}, name_or_bytes, group, found->is_copy, found->direction});
      if (some_.size() < spans_at_once) return;
      to(some_.data(), some_.size());
      some_.clear();
    };
    const sqlite_database::row_range& all = tables_.front().rows;
    using walk = row_taker::walk;
    const walk how = first <= all.first && last >= all.last ? walk::whole : walk::range;
    const std::uint64_t count = rows_.take(how, first, last, take);
    to(some_.data(), some_.size());
    return count;
  }

  bool may_have_spans() const override { return has_wanted_path_; }
  bool may_skip_rows() const override { return true; }
  std::uint64_t count_rows(std::size_t /*table*/, const sqlite_database::row_range& all) override {
    return in_.count_rows("span", all);
  }

  std::optional<std::uint64_t> start_near(std::size_t /*table*/, std::int64_t row) override {
    if (!nearest_) nearest_ = in_.prepare_nearest("span", "start");
    nearest_->bind(1, row);
    std::optional<std::uint64_t> found;
    if (nearest_->step() && nearest_->number(0).value_or(-1) >= 0)
      found = static_cast<std::uint64_t>(nearest_->integer(0));
    nearest_->reset();
    return found;
  }

  // The call path for a region; only the name for an operation.
  std::string name(std::uint64_t id) override {
    const auto found = from_.paths().find(static_cast<std::int64_t>(id));
    if (found == from_.paths().end()) return fmt::format("path {}", id);
    if (what_ != scan_subject::regions) return found->second.name;
    std::string made = found->second.name;
    std::size_t depth = 0;
    for (auto above = from_.paths().find(found->second.parent); above != from_.paths().end() && depth != 64;
         above = from_.paths().find(above->second.parent), ++depth)
      made.insert(0, above->second.name + "/");
    return made;
  }

 private:
  struct role_of_path {
    bool is_wanted = false, is_copy = false;
    std::optional<copy_direction> direction;
    std::uint32_t device = 0;
  };
  role_of_path role(const store_reader::path& path) {
    const scan_role made = choose_role(path.kind, what_);
    has_wanted_path_ = has_wanted_path_ || made.is_wanted;
    return {made.is_wanted, made.is_copy, find_direction(path.kind, path.name), path.device};
  }

  const role_of_path* find_role(std::int64_t path) const {
    if (path >= 0 && static_cast<std::uint64_t>(path) < listed_roles_.size())
      return &listed_roles_[static_cast<std::size_t>(path)];
    const auto found = roles_.find(path);
    return found != roles_.end() ? &found->second : nullptr;
  }
  // Most spans are on the device of the previous span.
  std::uint32_t find_device(std::int64_t process, std::uint32_t number) {
    if (process != known_process_ || number != known_number_ || !knows_device_) {
      known_device_ = from_.physical(process, number);
      known_process_ = process;
      known_number_ = number;
      knows_device_ = true;
    }
    return known_device_;
  }

  static constexpr std::int64_t max_listed_roles = 1 << 20;
  const store_reader& from_;
  scan_subject what_;
  sqlite_database in_;  // a separate connection
  row_taker rows_;
  std::optional<sqlite_statement> nearest_;  // kept for hundreds of queries
  std::vector<scanned_table> tables_;
  bool has_wanted_path_ = false;
  std::vector<role_of_path> listed_roles_;  // by path number
  std::unordered_map<std::int64_t, role_of_path> roles_;
  std::int64_t known_process_ = 0;
  std::uint32_t known_number_ = 0, known_device_ = 0;
  bool knows_device_ = false;
  std::vector<scanned_span> some_;
};

}  // namespace

bool store_reader::is_store(const sqlite_database& in) {
  if (!in.has_table("meta") || !in.has_table("span") || !in.has_table("path")) return false;
  sqlite_statement format = in.prepare("SELECT value FROM meta WHERE name = 'format'", "meta");
  return format.step() && format.text(0) == store_format;
}

store_reader::store_reader(std::unique_ptr<sqlite_database> in) : in_(std::move(in)) {
  sqlite_statement meta = in_->prepare("SELECT name, value FROM meta", "meta");
  while (meta.step()) {
    const std::string_view name = meta.text(0), value = meta.text(1);
    if (name == "schema" && to_number<int>(value).value_or(0) > store_schema)
      throw error(fmt::format("{} has schema {}; this build reads schemas up to {}", file(), value, store_schema),
                  file(), 0, "use a later version of adaptyst");
    if (name == "complete") is_complete_ = value == "1";
    if (name == "simulated") is_simulated_ = value != "0";
    if (name == "utc_ns") utc_ns_ = to_number<std::int64_t>(value);
    if (name == "host") host_ = value;
    if (name == "rank") rank_ = to_number<std::uint32_t>(value);
  }
  sqlite_statement paths = in_->prepare(
      in_->select("path", {"id", "parent", "name", "kind", "device", "color", "level", "file", "line"}), "path");
  while (paths.step())
    paths_[paths.integer(0)] = {paths.integer(1),
                                std::string(paths.text(2)),
                                find_kind(paths.text(3)),
                                static_cast<std::uint32_t>(paths.integer(4)),
                                read_color_text(paths.text(5)),
                                to_level(static_cast<std::uint64_t>(paths.integer(6))),
                                std::string(paths.text(7)),
                                static_cast<std::uint32_t>(paths.integer(8))};
  sqlite_statement devices = in_->prepare("SELECT process, id, physical, uuid, name FROM device", "device");
  while (devices.step())
    devices_.add(devices.integer(0), static_cast<std::uint32_t>(devices.integer(1))) = {
        static_cast<std::uint32_t>(devices.integer(2)), std::string(devices.text(3)), std::string(devices.text(4))};
}

std::string store_reader::describe() const {
  return fmt::format("adaptyst trace, schema {}{}", store_schema, is_simulated_ ? ", simulated" : "");
}

std::map<std::int64_t, traced_process> store_reader::processes() const {
  std::map<std::int64_t, traced_process> made;
  sqlite_statement rows = in_->prepare(in_->select("process", {"id", "name", "number", "host", "rank"}), "process");
  while (rows.step()) {
    const std::int64_t number = rows.number(2).value_or(rows.integer(0));
    traced_process process{std::string(rows.text(1)), number, std::string(rows.text(3)), rank_};
    if (process.name.empty()) process.name = fmt::format("process {}", number);
    if (process.host.empty()) process.host = host_;
    if (const std::optional<std::int64_t> rank = rows.number(4)) process.rank = static_cast<std::uint32_t>(*rank);
    made[rows.integer(0)] = std::move(process);
  }
  return made;
}

std::string store_reader::missing() const {
  std::string made;
  if (!is_complete_) made = fmt::format("{} was not finished: it ends before the run did", file());
  sqlite_statement lost = in_->prepare("SELECT sum(events) FROM loss", "loss");
  if (lost.step() && lost.integer(0) != 0)
    made += fmt::format("{}{} events of {} were lost (table loss)", made.empty() ? "" : "; ", lost.integer(0), file());
  return made;
}

std::string store_reader::without_place() const {
  const std::string unread = unread_messages();
  return unread.empty() ? unread : fmt::format("{}: {}", file(), unread);
}

std::string store_reader::unread_messages() const {
  std::string made;
  const auto put = [&](std::uint64_t count, const char* one, const char* several) {
    if (count != 0) made += fmt::format("{}{} {}", made.empty() ? "" : ", ", count, count == 1 ? one : several);
  };
  put(unread_calls_, "call of MPI lacks its messages: there are too many",
      "calls of MPI lack their messages: there are too many");
  put(unread_forms_, "message of MPI has an unknown form and is skipped",
      "messages of MPI have an unknown form and are skipped");
  put(unread_communicators_, "communicator of MPI is skipped: there are too many",
      "communicators of MPI are skipped: there are too many");
  put(without_ranks_, "communicator of MPI lacks its ranks: they are no numbers, or too many",
      "communicators of MPI lack their ranks: they are no numbers, or too many");
  return made;
}

// Sites, and the names of processes, threads and devices.
void store_reader::read_names(trace_writer& to) {
  // Parents may have any ids, so all sites exist before they are linked.
  for (const auto& [id, path] : paths_)
    sites_[id] = {path.name, path.kind, path.device, nullptr, path.own_level, path.color, 0, path.file, path.line};
  for (auto& [id, site] : sites_) {
    const std::int64_t parent = paths_.at(id).parent;
    // adaptyst numbers parents first; a file of another writer may contain a circle.
    if (const auto found = sites_.find(parent); found != sites_.end() && parent < id) site.parent = &found->second;
  }
  for (const auto& [id, process] : processes()) to.name_process(id, process);
  sqlite_statement threads = in_->prepare("SELECT process, id, name FROM thread", "thread");
  while (threads.step())
    if (!threads.text(2).empty())
      to.name_thread(threads.integer(0), static_cast<std::uint32_t>(threads.integer(1)), std::string(threads.text(2)));
  devices_.name(to);
}

// Call it only if the store has the table `communicator`.
void store_reader::read_communicators() {
  constexpr std::size_t max_communicators = std::size_t{1} << 22U, max_ranks = std::size_t{1} << 24U;
  sqlite_statement all = in_->prepare("SELECT id, name, ranks FROM communicator", "communicator");
  std::size_t ranks = 0;
  while (all.step()) {
    if (communicators_.size() == max_communicators) {
      ++unread_communicators_;
      continue;
    }
    traced_communicator& made = communicators_[all.integer(0)];
    made.name = all.text(1);
    for (std::string_view left = all.text(2); !left.empty(); ++ranks) {
      const std::string_view word = left.substr(0, left.find(' '));
      const std::optional<std::uint32_t> rank = to_number<std::uint32_t>(word);
      if (!rank || ranks >= max_ranks) {
        made.ranks = {};
        ++without_ranks_;
        break;
      }
      made.ranks.push_back(*rank);
      left.remove_prefix(std::min(left.size(), word.size() + 1));
    }
  }
}

// Messages of MPI's calls. Older stores have none.
void store_reader::read_messages() {
  constexpr std::size_t max_messages = std::size_t{1} << 22U;
  if (!calls_.empty() || !in_->has_table("mpi_message") || !in_->has_table("communicator")) return;
  read_communicators();
  sqlite_statement rows =
      in_->prepare("SELECT call, form, communicator, peer, tag, bytes, received FROM mpi_message ORDER BY call, number",
                   "mpi_message");
  std::optional<std::int64_t> last, skipped;
  for (std::size_t count = 0; rows.step();) {
    const std::int64_t call = rows.integer(0);
    if (call == skipped) continue;
    // A call has all of its messages, or none.
    if (count == max_messages) {
      if (call == last) count -= calls_.extract(call).mapped().size();
      skipped = call;
      ++unread_calls_;
      continue;
    }
    const auto form = std::find(std::begin(store_message_forms), std::end(store_message_forms), rows.text(1));
    if (form == std::end(store_message_forms)) {
      ++unread_forms_;
      continue;
    }
    traced_message made;
    made.what = static_cast<traced_message::form>(form - std::begin(store_message_forms));
    const auto number = [&](int column, auto& to) {
      using value = std::decay_t<decltype(*to)>;
      const std::optional<std::int64_t> found = rows.number(column);
      if (found && *found >= 0 && static_cast<std::uint64_t>(*found) <= std::numeric_limits<value>::max())
        to = static_cast<value>(*found);
    };
    if (const auto of = communicators_.find(rows.integer(2)); of != communicators_.end())
      made.communicator = &of->second;
    number(3, made.peer);
    number(4, made.tag);
    number(5, made.bytes);
    number(6, made.received_bytes);
    calls_[call].push_back(made);
    last = call;
    ++count;
  }
}

namespace {

// Adds events with valid times and paths; the others are counted.
class event_adder {
 public:
  event_adder(const std::map<std::int64_t, traced_site>& sites, trace_writer& to, std::int64_t shift_ns, bad_rows& bad)
      : sites_(sites), to_(to), shift_ns_(shift_ns), bad_(bad) {}

  void add(const row_place& place, traced_event event, std::optional<std::int64_t> start,
           std::optional<std::int64_t> end, std::optional<std::int64_t> at_path, std::int64_t process) const {
    const std::optional<time_span> times = bad_.take_span(start, end, place, max_time_ns, shift_ns_);
    if (!times) return;
    const auto site = at_path ? sites_.find(*at_path) : sites_.end();
    if (site == sites_.end())
      return bad_.add(
          row_fault::no_path, place,
          at_path ? fmt::format("has path {}, which does not exist", *at_path) : std::string("has no path"));
    event.site = &site->second;
    static_cast<time_span&>(event) = *times;
    // An impossible time of submission counts as unknown.
    if (event.submitted_ns > max_time_ns) event.submitted_ns = 0;
    if (event.submitted_ns != 0)
      event.submitted_ns = static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, static_cast<std::int64_t>(event.submitted_ns) + shift_ns_));
    to_.add(process, event);
  }

 private:
  const std::map<std::int64_t, traced_site>& sites_;
  trace_writer& to_;
  std::int64_t shift_ns_;
  bad_rows& bad_;
};

}  // namespace

void store_reader::read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) {
  read_names(to);
  read_messages();
  const std::string where_spans = fmt::format("{}, table span", file()),
                    where_samples = fmt::format("{}, table sample", file()),
                    where_instants = fmt::format("{}, table instant", file());
  const event_adder valid(sites_, to, shift_ns, bad);
  const char* const order = to.needs_order() ? R"( ORDER BY start, "end" DESC)" : "";
  sqlite_statement spans = in_->prepare(
      fmt::format(
          R"(SELECT start, "end", path, process, thread, queue, submitted, correlation, bytes, nests, rowid, {} FROM span{})",
          calls_.empty() ? "NULL" : "mpi_call", order),
      "span");
  while (spans.step()) {
    const row_place place{where_spans, spans.integer(10)};
    std::optional<std::int64_t> numbers[10];
    if (!bad.read_numbers(spans, numbers, place)) continue;
    const auto& [start, end, path, process, thread, queue, submitted, correlation, bytes, nests] = numbers;
    traced_event event;
    event.as = queue ? traced_as::operation : nests.value_or(0) != 0 ? traced_as::scope : traced_as::handle;
    event.thread = static_cast<std::uint32_t>(thread.value_or(0));
    event.queue = static_cast<std::uint64_t>(queue.value_or(0));
    event.submitted_ns = static_cast<std::uint64_t>(submitted.value_or(0));
    event.correlation = static_cast<std::uint64_t>(correlation.value_or(0));
    event.bytes = static_cast<std::uint64_t>(bytes.value_or(0));
    if (!calls_.empty() && !spans.is_null(11))
      if (const auto call = calls_.find(spans.integer(11)); call != calls_.end()) event.messages = &call->second;
    valid.add(place, event, start, end, path, process.value_or(0));
  }
  sqlite_statement samples = in_->prepare("SELECT time, path, process, thread, value, rowid FROM sample", "sample");
  while (samples.step()) {
    const row_place place{where_samples, samples.integer(5)};
    if (!bad.has_numbers(samples, {0, 1, 2, 3}, place)) continue;
    traced_event event;
    event.as = traced_as::metric;
    event.thread = static_cast<std::uint32_t>(samples.integer(3));
    event.value = samples.real(4);
    const std::optional<std::int64_t> at = samples.number(0);
    valid.add(place, event, at, at, samples.number(1), samples.integer(2));
  }
  sqlite_statement instants = in_->prepare("SELECT time, path, process, thread, rowid FROM instant", "instant");
  while (instants.step()) {
    const row_place place{where_instants, instants.integer(4)};
    if (!bad.has_numbers(instants, {0, 1, 2, 3}, place)) continue;
    traced_event event;
    event.as = traced_as::instant_event;
    event.thread = static_cast<std::uint32_t>(instants.integer(3));
    const std::optional<std::int64_t> at = instants.number(0);
    valid.add(place, event, at, at, instants.number(1), instants.integer(2));
  }
  sqlite_statement losses = in_->prepare("SELECT process, reason, events FROM loss", "loss");
  while (losses.step())
    to.add_loss(losses.integer(0), std::string(losses.text(1)), static_cast<std::uint64_t>(losses.integer(2)));
}

void store_reader::read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const {
  std::unordered_map<std::int64_t, host_call_kind> kinds;
  for (const auto& [id, path] : paths_)
    if (const auto kind = choose_call_kind({path.name, path.kind, path.device, nullptr})) kinds.emplace(id, *kind);
  if (kinds.empty()) return;
  const std::string where = fmt::format("{}, table span", file());
  sqlite_statement rows =
      in_->prepare(R"(SELECT start, "end", path, process, thread, rowid FROM span WHERE queue IS NULL)", "span");
  while (rows.step()) {
    const auto kind = kinds.find(rows.integer(2));
    const row_place place{where, rows.integer(5)};
    if (kind == kinds.end() || !bad.has_numbers(rows, {0, 1, 3, 4}, place)) continue;
    if (const std::optional<time_span> times = bad.take_span(rows.number(0), rows.number(1), place))
      to({*times, rows.integer(3), static_cast<std::uint32_t>(rows.integer(4)), kind->second});
  }
}

std::unique_ptr<trace_scan> store_reader::scan(scan_subject what) const {
  return std::make_unique<store_scan>(*this, what);
}

}  // namespace adaptyst::lib
