// The profile as JSON, by its lists of fields.
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "../profile/fields.hpp"
#include "../profile/mpi_usage.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using json = nlohmann::ordered_json;
namespace listed = lib::listed;

// Names may hold any bytes; what is not UTF-8 is replaced rather than refused.
constexpr auto replacing = json::error_handler_t::replace;

// What a list has in addition to the members, by its name; discarded: it is left out.
const auto no_extra = [](std::string_view) { return json(json::value_t::discarded); };

template <class Struct, class Extra = decltype(no_extra)>
json make_object(const Struct& from, const Extra& extra = no_extra);

json make_json(const wide_sum& sum, listed::form /*plain*/) { return fmt::format("{:016x}{:016x}", sum.high, sum.low); }

template <class Value>
json make_json(const Value& value, listed::form /*plain*/ = listed::plain) {
  if constexpr (listed::is_listed<Value>) return make_object(value);
  else if constexpr (std::is_enum_v<Value>) return to_string(value);
  else return json(value);
}

json make_json(std::uint64_t value, listed::form as) {
  if ((as == listed::id_or_none || as == listed::not_zero) && value == 0) return nullptr;
  if (as == listed::id || as == listed::id_or_none) return fmt::format("{:016x}", value);
  return value;
}

json make_json(std::uint32_t value, listed::form as) { return make_json(std::uint64_t{value}, as); }

// JSON has no infinities and no NaN: such a number is left out.
json make_json(double value, listed::form as = listed::plain) {
  if (as == listed::root) value = std::sqrt(value);
  return std::isfinite(value) ? json(value) : json(nullptr);
}

template <class Value>
json make_json(const std::optional<Value>& value, listed::form as = listed::plain) {
  return value ? make_json(*value, as) : json(nullptr);
}

json make_json(const histogram& durations, listed::form /*plain*/) {
  json counts = json::array();  // pairs of bucket and count
  const std::vector<std::uint64_t>& buckets = durations.buckets();
  for (std::size_t bucket = 0; bucket != buckets.size(); ++bucket)
    if (buckets[bucket] != 0) counts.push_back({bucket, buckets[bucket]});
  return counts;
}

template <class Key>
json make_json(const std::map<Key, std::uint64_t>& counts, listed::form /*plain*/) {
  return lib::by_word(counts);
}

void join(std::string& text, const std::string& from) { text += " | " + from; }
void join(std::uint64_t& sum, std::uint64_t from) { sum += from; }
void join(attribute& sum, const attribute& from) { sum.merge(from); }

// By the names that will stand in the file: those that differ only in what is replaced become one, as a file with a key
// twice would say one or the other, depending on who reads it.
template <class Value>
std::map<std::string, Value> writable(const std::map<std::string, Value>& all) {
  std::map<std::string, Value> made;
  for (const auto& [name, value] : all) {
    const json as_written = json::parse(json(name).dump(-1, ' ', false, replacing));
    const auto [entry, is_new] = made.try_emplace(as_written.get<std::string>(), value);
    if (!is_new) join(entry->second, value);
  }
  return made;
}

json make_json(const std::map<std::string, std::string>& texts, listed::form /*plain*/) { return writable(texts); }
json make_json(const std::map<std::string, std::uint64_t>& counts, listed::form /*plain*/) { return writable(counts); }

// Rows are put in afterwards, as text: as values they would take ten times the memory.
json make_json(const std::vector<region>& /*rows*/, listed::form /*plain*/) { return json::array(); }

// Calls visit(value) for each. Each name is written once: a row has its own name, and the id of the row above it. Whole
// paths would grow with the square of the depth.
template <class Visit>
void for_each_json(const std::vector<region>& rows, Visit&& visit) {
  const std::vector<std::string> root;
  std::unordered_map<std::uint64_t, const std::vector<std::string>*> paths{{0, &root}};
  for (const region& row : rows) {
    const auto above = paths.find(row.parent);
    const bool is_known = above != paths.end() && row.path.size() == above->second->size() + 1 &&
                          std::equal(above->second->begin(), above->second->end(), row.path.begin());
    visit(make_object(row, [&](std::string_view key) {
      if (key == "name") return json(row.path.empty() ? std::string() : row.path.back());
      return is_known ? no_extra(key) : json(row.path);
    }));
    paths.try_emplace(row.id, &row.path);
  }
}

json make_json(const std::vector<device_usage>& devices, listed::form /*plain*/) {
  json all = json::array();
  for (const device_usage& device : devices)
    all.push_back(make_object(device, [id = all.size()](std::string_view) { return json(id); }));
  return all;
}

json make_attributes(const region& row) {
  json all = json::object();
  for (const auto& [name, values] : writable(row.attributes)) {
    const bool has_rate = (name == "bytes" || name == "flops") && row.total_ns != 0 && !lib::is_nonblocking_call(row);
    all[name] = make_object(values, [&, &sum = values.sum](std::string_view key) {
      return has_rate ? make_json(sum / static_cast<double>(row.total_ns) * 1e9) : no_extra(key);
    });
  }
  return all;
}

template <class Value>
json make_json(const std::vector<Value>& values, listed::form /*plain*/ = listed::plain) {
  json all = json::array();
  for (const Value& one : values) all.push_back(make_json(one));
  return all;
}

template <class Value>
bool is_there(const Value& /*value*/) {
  return true;
}
template <class Value>
bool is_there(const std::optional<Value>& value) {
  return value.has_value();
}
bool is_there(const std::string& text) { return !text.empty(); }
bool is_there(bool value) { return value; }
template <class Key, class Value>
bool is_there(const std::map<Key, Value>& all) {
  return !all.empty();
}
template <class Value>
bool is_there(const std::vector<Value>& all) {
  return !all.empty();
}

template <class Struct, class Extra>
struct writer {
  const Struct& of;
  const Extra& extra;
  json& to;

  template <class Value>
  void operator()(const listed::member<Struct, Value>& field) const {
    const Value& value = of.*field.at;
    if constexpr (std::is_same_v<Value, std::map<std::string, attribute>>) to[field.name] = make_attributes(of);
    else if (!is_left_out(field)) to[field.name] = is_untimed(field) ? json(nullptr) : make_json(value, field.as);
  }
  template <class Get>
  void operator()(const listed::derived<Get>& field) const {
    to[field.name] = make_json(std::invoke(field.get, of));
  }
  template <class Value>
  void operator()(const listed::extra<Value>& field) const {
    if (json value = extra(field.name); !value.is_discarded()) to[field.name] = std::move(value);
  }

  template <class Value>
  bool is_left_out(const listed::member<Struct, Value>& field) const {
    if constexpr (std::is_same_v<Struct, region>)
      if (field.as == listed::root) return !of.timed_events;
    return field.in == listed::sometimes && !is_there(of.*field.at);
  }
  template <class Value>
  bool is_untimed(const listed::member<Struct, Value>& field) const {
    if constexpr (std::is_same_v<Struct, region>) return field.as == listed::timed && of.durations.count() == 0;
    else return false;
  }
};

template <class Struct, class Extra>
json make_object(const Struct& from, const Extra& extra) {
  json made = json::object();
  listed::for_each<Struct>(writer<Struct, Extra>{from, extra, made});
  return made;
}

}  // namespace

// One line for each region, also where it lists stacks.
std::string to_json(const profile& profile) {
  json all = make_object(profile, [&](std::string_view name) {
    if (name == "schema") return json(1);
    if (name == "process") return profile.processes.empty() ? json(nullptr) : make_object(profile.processes.front());
    if (profile.processes.size() < 2) return no_extra(name);
    json list = json::array();
    for (const process_info& process : profile.processes) list.push_back(make_object(process));
    return list;
  });
  const auto find_end = [](const std::string& text, const char* key) {  // no value holds a line feed
    const std::string place = fmt::format("\n \"{}\": [", key);
    const std::size_t at = text.find(place);
    return at != std::string::npos ? at + place.size() : at;
  };
  const auto add_line = [](std::string& lines, const json& row) {
    lines += lines.empty() || lines.back() == '[' ? "\n  " : ",\n  ";
    lines += row.dump(-1, ' ', false, replacing);
  };
  std::string stacks;
  if (all.contains("stacks"))
    for (const json& row : std::exchange(all["stacks"], json::array())) add_line(stacks, row);
  std::string text = all.dump(1, ' ', false, replacing) + "\n";
  if (!stacks.empty()) text.insert(find_end(text, "stacks"), stacks + "\n ");
  const std::size_t at = find_end(text, "regions");
  if (profile.regions.empty() || at == std::string::npos) return text;
  std::string whole = text.substr(0, at);
  for_each_json(profile.regions, [&](const json& row) { add_line(whole, row); });
  return whole += "\n " + text.substr(at);
}

}}  // namespace adaptyst::v1
