// A profile from its JSON, by its lists of fields. Members that follow from other members are computed again.
#include <adaptyst/detail/histogram.h>
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <unordered_map>
#include <utility>

#include "../model/comparison_fields.hpp"
#include "../model/fields.hpp"
#include "../model/measured_ceilings.hpp"
#include "../model/measurements.hpp"
#include "../model/words.hpp"
#include "forms.hpp"
#include "json_value.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::json_value;
namespace listed = lib::listed;

// Reads the keys that a list of fields has in addition to the members.
const auto not_looked_at = [](const json_value&) {};

template <class Struct, class Extra = decltype(not_looked_at)>
void read_object(Struct& object, const json_value& at, const Extra& extra = not_looked_at);

std::uint64_t read_id(const json_value& at) {
  const std::string& digits = at.text();
  std::uint64_t id = 0;
  for (const char c : digits) {
    const bool decimal = c >= '0' && c <= '9';
    if (digits.size() != 16 || !(decimal || (c >= 'a' && c <= 'f'))) at.fail("16 hexadecimal digits");
    id = id << 4U | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
  }
  if (digits.empty()) at.fail("16 hexadecimal digits");
  return id;
}

template <class Enum>
Enum word(const json_value& at) {
  constexpr bool of_region = std::is_same_v<Enum, region_kind>;  // a metric is not a region of a profile
  constexpr std::size_t count = lib::words<Enum>.size() - (of_region ? 1 : 0);
  constexpr std::size_t first = std::is_same_v<Enum, level> ? 1 : 0;  // profiles do not contain the first value, "none"
  const std::optional<Enum> found = lib::from_word<Enum>(at.text());
  if (!found || static_cast<std::size_t>(*found) < first || static_cast<std::size_t>(*found) >= count)
    at.fail(
        fmt::format("one of {}", fmt::join(lib::words<Enum>.begin() + first, lib::words<Enum>.begin() + count, ", ")));
  return *found;
}

void read(std::uint64_t& number, const json_value& at, listed::form as = listed::plain) {
  if (at.is_null() && (as == listed::timed || as == listed::id_or_none || as == listed::not_zero)) return;
  number = as == listed::id || as == listed::id_or_none ? read_id(at) : at.count();
}

void read(std::uint32_t& number, const json_value& at, listed::form as) {
  if (at.is_null() && as == listed::not_zero) return;
  number = static_cast<std::uint32_t>(at.count(std::numeric_limits<std::uint32_t>::max()));
}

void read(int& schema, const json_value& at, listed::form /*plain*/) { schema = static_cast<int>(at.count(1)); }

void read(std::int64_t& number, const json_value& at, listed::form /*plain*/) { number = at.integer(); }

// JSON has null for both NaN and infinite numbers.
void read(double& number, const json_value& at, listed::form /*plain*/ = listed::plain) {
  number = at.is_null() ? std::numeric_limits<double>::quiet_NaN() : at.number();
}

void read(std::string& text, const json_value& at, listed::form /*plain*/) { text = at.text(); }

void read(bool& flag, const json_value& at, listed::form /*plain*/) { flag = at.truth(); }

void read(wide_sum& sum, const json_value& at, listed::form /*plain*/) {
  const std::string& digits = at.text();
  if (digits.size() != 32) at.fail("32 hexadecimal digits");
  for (std::size_t digit = 0; digit != digits.size(); ++digit) {
    const char c = digits[digit];
    const bool decimal = c >= '0' && c <= '9';
    if (!decimal && (c < 'a' || c > 'f')) at.fail("32 hexadecimal digits");
    std::uint64_t& half = digit < 16 ? sum.high : sum.low;
    half = half << 4U | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
  }
}

template <class Value>
void read(Value& value, const json_value& at, listed::form /*plain*/) {
  if constexpr (std::is_enum_v<Value>) value = word<Value>(at);
  else read_object(value, at);
}

void read(std::optional<double>& value, const json_value& at, listed::form as) {
  if (at.is_null()) return;
  if (at.number() < 0) at.fail("a number of at least 0");
  if (as == listed::fraction && at.number() > 1) at.fail("at most 1");
  value = as == listed::root ? at.number() * at.number() : at.number();  // the root of this square is the same number
}

template <class Value>
void read(std::optional<Value>& value, const json_value& at, listed::form as) {
  if (!at.is_null()) read(value.emplace(), at, as);
}

void read(histogram& histogram, const json_value& at, listed::form /*plain*/) {
  for (std::size_t index = 0; index != at.size(); ++index) {
    const json_value pair = at[index];
    if (pair.size() != 2) pair.fail("a pair of bucket and count");
    const auto bucket = static_cast<unsigned>(pair[std::size_t{0}].count(ADAPTYST_HISTOGRAM_BUCKETS - 1));
    const std::uint64_t times = pair[1].count();
    if (times == 0) pair[1].fail("a count of at least 1");
    if (times > std::numeric_limits<std::uint64_t>::max() - histogram.count()) pair[1].fail("a sum within 64 bits");
    histogram.add_bucket(bucket, times);
  }
}

// A later version may have more reasons: their losses are added to `other`.
void read(losses& counts, const json_value& at, listed::form /*plain*/) {
  at.require_object();
  for (const auto& entry : at.value().items())
    counts[lib::from_word<loss_reason>(entry.key()).value_or(loss_reason::other)] += at[entry.key()].count();
}

void read(std::map<budget_step, std::uint64_t>& map, const json_value& at, listed::form /*plain*/) {
  at.require_object();
  for (const auto& entry : at.value().items()) {
    const std::optional<budget_step> step = lib::step_from_word(entry.key());
    if (!step) at[entry.key()].fail("kernel, recorder or 1 of N as its key");
    map[*step] = at[entry.key()].count();
  }
}

void read(std::map<std::string, attribute>& map, const json_value& at, listed::form /*plain*/) {
  at.require_object();
  for (const auto& entry : at.value().items())
    read_object(map[entry.key()], at[entry.key()], [](const json_value& per_second) {
      double rate = 0;
      read(rate, per_second);
    });
}

void read(std::map<std::string, std::string>& map, const json_value& at, listed::form /*plain*/) {
  at.require_object();
  for (const auto& entry : at.value().items()) map[entry.key()] = at[entry.key()].text();
}

void read(std::map<std::string, std::uint64_t>& map, const json_value& at, listed::form /*plain*/) {
  at.require_object();
  for (const auto& entry : at.value().items()) map[entry.key()] = at[entry.key()].count();
}

void read(std::vector<std::string>& path, const json_value& at, listed::form /*plain*/) {
  if (at.size() == 0 || at.size() > lib::max_path_names)
    at.fail(fmt::format("from 1 to {} names", lib::max_path_names));
  for (std::size_t index = 0; index != at.size(); ++index) path.push_back(at[index].text());
}

// More than any profile has. Without a limit, a small file could request a thousand times its size.
constexpr std::size_t max_path_bytes = std::size_t{1} << 30;

std::size_t bytes_of(const std::string& name) {
  static const std::size_t kept_inside = std::string().capacity();
  return sizeof(std::string) + (name.size() > kept_inside ? name.size() + 1 : 0);
}

class path_reader {
 public:
  // The path of the row at `at`; keep() must have been called for the rows above.
  std::vector<std::string> read_path(const region& row, const json_value& at) {
    std::vector<std::string> path;
    if (at.has("path")) {
      read(path, at["path"], listed::plain);
      count(path, at);
      if (at["name"].text() != path.back()) at["name"].fail("the last name of \"path\"");
    } else {
      if (row.parent != 0) {
        const auto above = paths_.find(row.parent);
        if (above == paths_.end()) at["parent"].fail("the id of a row before this one, as there is no \"path\"");
        count(*above->second, at);  // before the copy
        path = *above->second;
      }
      path.push_back(at["name"].text());
      count(bytes_of(path.back()), at);
      if (path.size() > lib::max_path_names)
        at["parent"].fail(fmt::format("less than {} rows above", lib::max_path_names));
    }
    return path;
  }
  void keep(const region& row) { paths_.try_emplace(row.id, &row.path); }

 private:
  void count(const std::vector<std::string>& names, const json_value& at) {
    std::size_t bytes = 0;
    for (const std::string& name : names) bytes += bytes_of(name);
    count(bytes, at);
  }
  void count(std::size_t bytes, const json_value& at) {
    bytes_ += bytes;
    if (bytes_ > max_path_bytes) at.fail(fmt::format("paths of at most {} bytes in all", max_path_bytes));
  }

  std::unordered_map<std::uint64_t, const std::vector<std::string>*> paths_;
  std::size_t bytes_ = 0;
};

void read(std::vector<region>& list, const json_value& at, listed::form /*plain*/) {
  path_reader paths;
  list.reserve(at.size());  // keeps the addresses of rows
  for (std::size_t index = 0; index != at.size(); ++index) {
    const json_value there = at[index];
    region& row = list.emplace_back();
    read_object(row, there);
    row.path = paths.read_path(row, there);
    paths.keep(row);
  }
}

template <class Value>
void read(std::vector<Value>& list, const json_value& at, listed::form as) {
  for (std::size_t index = 0; index != at.size(); ++index) read(list.emplace_back(), at[index], as);
}

// Findings are computed again by this version.
void read(std::vector<finding>& /*to*/, const json_value& at, listed::form /*plain*/) { at.size(); }

void read(std::vector<device_usage>& list, const json_value& at, listed::form /*plain*/) {
  for (std::size_t index = 0; index != at.size(); ++index)
    read_object(list.emplace_back(), at[index], [&](const json_value& id) {
      if (id.count() != index) id.fail(fmt::format("{}, its place in the list", index));
    });
}

void check_engine(const json_value& at) {
  const std::string& all = at.text();
  for (std::size_t from = 0; !all.empty() && from <= all.size();) {
    const std::size_t end = std::min(all.find(" | ", from), all.size());
    const std::string engine = all.substr(from, end - from);
    if (engine != "ebpf" && engine != "inline" && engine != "off")
      at.fail("ebpf, inline, off, or several, joined by \" | \"");
    from = end + 3;
    if (end == all.size()) break;
  }
}

// Refuses members that contradict each other.
template <class Struct>
void check(Struct& /*read*/, const json_value& /*at*/) {}

void check(region& row, const json_value& at) {
  for (const char* const key : {"total_ns", "self_ns", "min_ns", "max_ns"})
    if (row.durations.count() != 0 && at[key].is_null()) at[key].fail("a time, since there is a histogram");
  if (row.min_ns > row.max_ns) at["min_ns"].fail("at most max_ns");
  if (row.timed_events) at["sampled"].count(row.count);
  else row.count_variance = row.total_variance = std::nullopt;
}

void check(rank_totals& read, const json_value& at) {
  if (read.min > read.max) at["min"].fail("at most \"max\"");
}

void check(rank_spread& read, const json_value& at) {
  if (read.ranks != read.total_ns.values.count()) at["ranks"].fail("as many as there are in its histogram");
}

void check(rank_list& read, const json_value& at) {
  if (read.first.size() > std::min<std::uint64_t>(read.count, rank_list::max_first))
    at["first"].fail("no more than there are, and 16 at most");
}

void check(heat_map& read, const json_value& at) {
  if (read.ranks_per_bin == 0) at["ranks_per_bin"].fail("at least 1");
  const std::uint64_t bins = (read.ranks - std::min<std::uint64_t>(read.ranks, 1)) / read.ranks_per_bin + 1;
  for (std::size_t row = 0; row != read.rows.size(); ++row)
    if (bins > heat_map::max_bins || read.rows[row].mean_ns.size() != bins)
      at["rows"][row]["mean_ns"].fail("an element for each bin");
}

// A caller comes before the functions that it calls.
void check(region_stacks& read, const json_value& at) {
  std::uint32_t most = 0;
  for (std::size_t frame = 0; frame != read.frames.size(); ++frame) {
    if (read.frames[frame].depth >= lib::max_path_names)
      at["frames"][frame]["depth"].fail(fmt::format("less than {}", lib::max_path_names));
    if (read.frames[frame].depth > most) at["frames"][frame]["depth"].fail("at most one more than the frame before");
    most = read.frames[frame].depth + 1;
  }
}

void require_rates(const json_value& at, std::initializer_list<std::pair<const char*, double>> rates) {
  for (const auto& [key, rate] : rates)
    if (!(rate > 0) || !std::isfinite(rate)) at[key].fail("a number greater than 0");
}

void check(machine_ceilings& read, const json_value& at) {
  require_rates(at, {{"cpus", read.cpus},
                     {"one_gflops", read.one_gflops},
                     {"one_gbytes_per_s", read.one_gbytes_per_s},
                     {"all_gflops", read.all_gflops},
                     {"all_gbytes_per_s", read.all_gbytes_per_s}});
}

void check(roofline& read, const json_value& at) {
  require_rates(at, {{"ai", read.flops_per_byte},
                     {"gflops", read.gflops},
                     {"gbytes_per_s", read.gbytes_per_s},
                     {"attainable_gflops", read.attainable_gflops},
                     {"share", read.share},
                     {"threads", read.threads}});
}

void check(lib::repeated_rate& read, const json_value& at) {
  constexpr double max_rate = 1e9;
  for (const auto& [key, rate] : {std::pair{"best", read.best}, {"median", read.median}, {"worst", read.worst}})
    if (!(rate > 0) || rate > max_rate) at[key].fail("a rate, greater than 0");
  if (at["n"].count(1'000'000) == 0) at["n"].fail("at least 1");
  if (read.worst > read.median || read.median > read.best) at.fail("\"best\" to be the greatest, \"worst\" the least");
}

void check(lib::measured_ceilings& read, const json_value& at) {
  if (at["cpus"].count(1U << 20U) == 0) at["cpus"].fail("at least 1");
  if (!std::isfinite(read.seconds)) at["seconds"].fail("a number");
}

// Refuses lists that are longer than the writer permits.
template <class List>
void limit(const List& read, std::size_t max, const json_value& at, const char* key) {
  if (read.size() > max) at[key].fail(fmt::format("{} elements at most", max));
}

void check(process_info& read, const json_value& at) {
  limit(read.thread_list, process_info::max_threads, at, "thread_list");
  limit(read.resident, process_info::max_resident, at, "resident");
}

void check(machine& read, const json_value& at) { limit(read.devices, machine::max_devices, at, "devices"); }

void check(profile& read, const json_value& at) {
  check_engine(at["engine"]);
  limit(read.machines, profile::max_machines, at, "machines");
}

template <class Struct, class Extra>
struct reader {
  Struct& to;
  const json_value& at;
  const Extra& extra;

  template <class Value>
  void operator()(const listed::member<Struct, Value>& field) const {
    if (!at.has(field.name)) return;
    const json_value there = at[field.name];
    if (field.in == listed::sometimes && field.as == listed::plain && there.is_null())
      there.fail("a value, or no such key");
    read(to.*field.at, there, field.as);
  }
  template <class Get>
  void operator()(const listed::derived<Get>& field) const {
    std::decay_t<std::invoke_result_t<Get, const Struct&>> checked{};
    if (at.has(field.name)) read(checked, at[field.name], field.as);
  }
  template <class Value>
  void operator()(const listed::extra<Value>& field) const {
    if (at.has(field.name)) extra(at[field.name]);
  }
};

template <class Struct>
std::vector<const char*> keys(bool required) {
  std::vector<const char*> names;
  listed::for_each<Struct>([&](const auto& field) {
    if ((field.in == listed::always) == required) names.push_back(field.name);
  });
  return names;
}

template <class Struct, class Extra>
void read_object(Struct& object, const json_value& at, const Extra& extra) {
  static const std::vector<const char*> required = keys<Struct>(true);
  static const std::vector<const char*> optional = keys<Struct>(false);
  at.require_keys(required, optional);
  listed::for_each<Struct>(reader<Struct, Extra>{object, at, extra});
  check(object, at);
}

// Called first, because keys of a later schema would give misleading errors.
void require_schema(const json_value& all) {
  all.require_object();
  if (all.has("schema") && all["schema"].count() != 1) all["schema"].fail("1, all that this version reads");
}

std::vector<process_info> read_processes(const json_value& all) {
  std::vector<process_info> made;
  const json_value first = all["process"];
  if (!first.is_null()) read_object(made.emplace_back(), first);
  if (!all.has("processes")) return made;
  const json_value list = all["processes"];
  if (list.size() < 2) list.fail("at least two processes");
  if (list[std::size_t{0}].value() != first.value()) first.fail("the first of \"processes\"");
  for (std::size_t index = 1; index != list.size(); ++index) read_object(made.emplace_back(), list[index]);
  return made;
}

}  // namespace

profile from_json(std::string_view text) {
  const nlohmann::json parsed = lib::parse_json(text);
  const json_value all(parsed);
  require_schema(all);
  profile made;
  read_object(made, all);
  made.processes = read_processes(all);
  return made;
}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

measured_ceilings ceilings_from_json(std::string_view text) {
  const nlohmann::json parsed = parse_json(text);
  const json_value all(parsed);
  require_schema(all);
  measured_ceilings made;
  read_object(made, all);
  return made;
}

}  // namespace adaptyst::lib
