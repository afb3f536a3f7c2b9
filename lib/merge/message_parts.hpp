// The parts of a message, for its writer, reader and merge. They follow the lists of fields in their order
// (model/fields.hpp).
#ifndef ADAPTYST_LIB_MERGE_MESSAGE_PARTS_HPP
#define ADAPTYST_LIB_MERGE_MESSAGE_PARTS_HPP

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../model/fields.hpp"
#include "../model/measurements.hpp"
#include "../model/merging.hpp"
#include "exact_sum.hpp"
#include "message.hpp"
#include "sparse_histogram.hpp"
#include "wire.hpp"

namespace adaptyst::lib {

// Gives each value a single form.
inline std::uint64_t double_bits(double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
// A double ends with zeros more often than it begins with them.

inline void write_number(message_writer& writer, double value) { writer.put(__builtin_bswap64(double_bits(value))); }
inline double read_number(message_reader& from, const double*) {
  const std::uint64_t bits = __builtin_bswap64(from.get());
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class Number>
void write_number(message_writer& writer, Number value) {
  if constexpr (std::is_signed_v<Number>)
    writer.put(static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63));
  else writer.put(static_cast<std::uint64_t>(value));
}
template <class Number>
Number read_number(message_reader& from, const Number*) {
  if constexpr (std::is_signed_v<Number>) {
    const std::uint64_t number = from.get();
    return static_cast<Number>(number >> 1U ^ (~(number & 1U) + 1));
  } else {
    return static_cast<Number>(from.get(std::numeric_limits<Number>::max()));
  }
}

inline void write_sum(message_writer& writer, const exact_sum& sum) {
  const exact_sum::parts& parts = sum.state();
  writer.put(parts.count << 3U | parts.specials);
  if (parts.count == 0) return;
  writer.put(parts.first);
  writer.put_bytes(parts.bytes.data(), parts.count);
}
inline exact_sum read_sum(message_reader& from) {
  exact_sum::parts parts;
  const std::uint64_t head = from.get(exact_sum::max_bytes << 3U | 7U);
  parts.specials = static_cast<unsigned>(head & 7U);
  parts.count = static_cast<std::size_t>(head >> 3U);
  if (parts.count != 0) {
    parts.first = static_cast<std::size_t>(from.get(exact_sum::max_bytes));
    const std::string_view bytes = from.get_bytes(parts.count);
    std::copy(bytes.begin(), bytes.end(), parts.bytes.begin());
  }
  exact_sum made;
  if (!made.set(parts)) from.fail("has a sum that there cannot be");
  return made;
}

inline bool is_sum(listed::merging how) { return how == listed::sum || how == listed::sum_if_complete; }

inline void write_key(message_writer& writer, const std::string& key) { writer.put_text(key); }
inline void write_key(message_writer& writer, loss_reason key) { writer.put(static_cast<std::uint64_t>(key)); }
inline void write_key(message_writer& writer, const budget_step& key) {
  writer.put(key.is_in_kernel ? 1 : 0);
  writer.put(key.one_of);
}
inline void read_key(message_reader& from, std::string& key) { key = from.get_text(); }
inline void read_key(message_reader& from, loss_reason& key) {
  key = static_cast<loss_reason>(from.get(static_cast<std::uint64_t>(loss_reason::other)));
}
inline void read_key(message_reader& from, budget_step& key) {
  key.is_in_kernel = from.get(1) != 0;
  key.one_of = from.get();
  if (key.one_of == 0 || (key.one_of & (key.one_of - 1)) != 0) from.fail("has a budget's step that there cannot be");
}

template <class Enum>
constexpr std::uint64_t last_value() {
  if constexpr (std::is_same_v<Enum, region_kind>) return static_cast<std::uint64_t>(region_kind::function);
  else if constexpr (std::is_same_v<Enum, device_kind>) return static_cast<std::uint64_t>(device_kind::other);
  else if constexpr (std::is_same_v<Enum, level>) return static_cast<std::uint64_t>(level::hardware);
  else return static_cast<std::uint64_t>(clock_id::device);
}

// The identity of a row precedes its fields.
template <class Struct, class Value>
bool is_key(const listed::member<Struct, Value>& field) {
  if constexpr (std::is_same_v<Struct, region> && std::is_same_v<Value, std::uint64_t>) return field.at == &region::id;
  else if constexpr (std::is_same_v<Struct, region> && std::is_same_v<Value, std::uint32_t>)
    return field.at == &region::device;
  else return false;
}

// Parts that are in another place of the message, or not in a message.
template <class Value>
constexpr bool is_separate =
    std::is_same_v<Value, std::vector<region>> || std::is_same_v<Value, std::vector<device_usage>> ||
    std::is_same_v<Value, std::vector<region_stacks>> || std::is_same_v<Value, std::vector<machine>> ||
    std::is_same_v<Value, std::optional<rank_spread>> || std::is_same_v<Value, std::optional<collective_waits>> ||
    std::is_same_v<Value, std::optional<rank_account>> || std::is_same_v<Value, std::optional<heat_map>> ||
    std::is_same_v<Value, std::optional<unlisted_processes>> || std::is_same_v<Value, std::optional<mpi_usage>>;

class parts_writer {
 public:
  explicit parts_writer(message_limits limits = {}) : limits_(limits) {}

  void write_limits() {
    out.put(limits_.durations);
    out.put(limits_.ranks);
  }

  template <class Struct>
  void write_fields(const Struct& from) {
    listed::for_each<Struct>([&](const auto& field) { write_field(from, field); });
  }

  void write(const std::optional<rank_spread>& spread, sparse_histogram& values) {
    out.put(spread ? 1 : 0);
    if (!spread) return;
    write_fields(*spread);
    put_histogram(out, values, limits_.ranks);
  }
  void write(const std::optional<rank_spread>& spread) {
    if (spread) room_.assign(spread->total_ns.values);
    write(spread, room_);
  }
  // For one rank.
  void write_first(std::uint64_t total_ns, const rank_place& place) {
    rank_spread spread;
    spread.ranks = 1;
    spread.total_ns.min = spread.total_ns.max = spread.total_ns.sum.low = total_ns;
    spread.total_ns.min_rank = spread.total_ns.max_rank = place.rank;
    spread.total_ns.min_host = spread.total_ns.max_host = place.host;
    spread.total_ns.squares.add_square(total_ns);
    room_.assign(total_ns);
    write(spread, room_);
  }
  void write_path(const std::vector<std::string_view>& path) {
    const auto same = std::mismatch(path.begin(), path.end(), path_.begin(), path_.end()).first;
    const auto shared = static_cast<std::size_t>(same - path.begin());
    out.put(shared);
    out.put(path.size() - shared);
    for (std::size_t at = shared; at != path.size(); ++at) out.put_text(path[at]);
    path_ = path;
  }

  template <class Value>
  void write_value(const Value& value, listed::merging how) {
    if constexpr (std::is_same_v<Value, double>) {
      if (is_sum(how)) write_sum(out, exact_sum(value));
      else write_number(out, value);
    } else if constexpr (std::is_arithmetic_v<Value>) {
      write_number(out, value);
    } else if constexpr (std::is_enum_v<Value>) {
      out.put(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<Value, std::string>) {
      out.put_text(value);
    } else {
      write_parts(value, how);
    }
  }

  message_writer out;

 private:
  template <class Struct, class Value>
  void write_field(const Struct& from, const listed::member<Struct, Value>& field) {
    if constexpr (!is_separate<Value>)
      if (field.how != listed::separate && !is_key(field)) write_value(from.*field.at, field.how);
  }
  template <class Struct, class Other>
  void write_field(const Struct& /*from*/, const Other& /*no member*/) {}

  template <class Struct>
  void write_parts(const Struct& value, listed::merging /*how*/) {
    write_fields(value);
  }
  template <class Value>
  void write_parts(const std::optional<Value>& value, listed::merging how) {
    out.put(value ? 1 : 0);
    if (value) write_value(*value, how);
  }
  template <class Key, class Value>
  void write_parts(const std::map<Key, Value>& all, listed::merging how) {
    std::size_t left = how == listed::joined ? max_joined_keys : all.size();
    for (auto entry = all.begin(); entry != all.end() && left != 0; ++entry, --left) {
      out.put(1);
      write_key(out, entry->first);
      write_value(entry->second, how);
    }
    out.put(0);
  }
  template <class Value>
  void write_parts(const std::vector<Value>& all, listed::merging how) {
    out.put(all.size());
    for (const Value& element : all) write_value(element, how);
  }
  void write_parts(const wide_sum& sum, listed::merging /*how*/) {
    out.put(sum.high);
    out.put(sum.low);
  }
  void write_parts(const histogram& durations, listed::merging /*how*/) {
    room_.assign(durations);
    put_histogram(out, room_, limits_.durations);
  }

  message_limits limits_;
  std::vector<std::string_view> path_;
  sparse_histogram room_;
};

// The maximum length of a list of these; for texts, by the struct of the list. A list has at most one element for each
// remaining byte of the message.
template <class Value>
constexpr std::uint64_t max_elements = std::numeric_limits<std::uint64_t>::max();
template <>
inline constexpr std::uint64_t max_elements<rank_place> = rank_list::max_first;
template <>
inline constexpr std::uint64_t max_elements<program_ranks> = rank_account::max_programs;
template <>
inline constexpr std::uint64_t max_elements<thread_info> = process_info::max_threads;
template <>
inline constexpr std::uint64_t max_elements<machine> = profile::max_machines;
template <>
inline constexpr std::uint64_t max_elements<machine_device> = machine::max_devices;
template <>
inline constexpr std::uint64_t max_elements<node_time> = 4096;
template <class Struct>
constexpr std::uint64_t max_texts = std::numeric_limits<std::uint64_t>::max();
template <>
inline constexpr std::uint64_t max_texts<rank_account> = rank_account::max_hosts;
template <>
inline constexpr std::uint64_t max_texts<last_region> = max_path_names;

// Fails if a struct has values that no writer produces.
template <class Struct>
void require_sound(const message_reader& /*from*/, const Struct& /*read*/) {}
inline void require_sound(const message_reader& from, const rank_account& read) {
  if (read.end > max_rank + 1) from.fail("has a number that is too large");
}
inline void require_sound(const message_reader& from, const rank_totals& read) {
  if (read.min > read.max) from.fail("has a least time above the greatest");
}
inline void require_sound(const message_reader& from, const node_time& read) {
  if (read.ranks > max_rank) from.fail("has a number that is too large");
}
inline void require_sound(const message_reader& from, const process_info& read) {
  if (read.parent && *read.parent <= 0) from.fail("has a process that there cannot be");
}
inline void require_sound(const message_reader& from, const last_region& read) {
  if (read.path.empty()) from.fail("has a path that there cannot be");
}

template <class Struct>
void read_fields(message_reader& from, Struct& object);

template <class Value>
void read_value(message_reader& from, Value& value, listed::merging how);

template <class Struct>
void read_parts(message_reader& from, Struct& object, listed::merging /*how*/) {
  read_fields(from, object);
}
template <class Value>
void read_parts(message_reader& from, std::optional<Value>& value, listed::merging how) {
  value.reset();
  if (from.get(1) != 0) read_value(from, value.emplace(), how);
}
template <class Key, class Value>
void read_parts(message_reader& from, std::map<Key, Value>& map, listed::merging how) {
  while (from.get(1) != 0) {
    Key key{};
    read_key(from, key);
    read_value(from, map[key], how);
  }
}
template <class Value>
void read_list(message_reader& from, std::vector<Value>& list, std::uint64_t max) {
  list.clear();
  std::size_t left = from.get_count();
  if (left > max) from.fail("has a list that is too long");
  for (; left != 0; --left) read_value(from, list.emplace_back(), listed::same);
}
template <class Value>
void read_parts(message_reader& from, std::vector<Value>& list, listed::merging /*how*/) {
  read_list(from, list, max_elements<Value>);
}
inline void read_parts(message_reader& from, wide_sum& sum, listed::merging /*how*/) {
  sum.high = from.get();
  sum.low = from.get();
}
inline void read_parts(message_reader& from, histogram& histogram, listed::merging /*how*/) {
  sparse_histogram all;
  get_histogram(from, all);
  histogram = all.whole();
}

template <class Value>
void read_value(message_reader& from, Value& value, listed::merging how) {
  if constexpr (std::is_same_v<Value, double>) {
    value = is_sum(how) ? read_sum(from).value() : read_number(from, &value);
  } else if constexpr (std::is_arithmetic_v<Value>) {
    value = read_number(from, &value);
  } else if constexpr (std::is_enum_v<Value>) {
    value = static_cast<Value>(from.get(last_value<Value>()));
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = from.get_text();
  } else {
    read_parts(from, value, how);
  }
}

template <class Struct, class Value>
void read_field(message_reader& from, Struct& object, const listed::member<Struct, Value>& field) {
  if constexpr (!is_separate<Value>) {
    if (field.how == listed::separate || is_key(field)) return;
    if constexpr (std::is_same_v<Value, std::vector<std::string>>) read_list(from, object.*field.at, max_texts<Struct>);
    else read_value(from, object.*field.at, field.how);
  }
}
template <class Struct, class Other>
void read_field(message_reader& /*from*/, Struct& /*to*/, const Other& /*no member*/) {}

template <class Struct>
void read_fields(message_reader& from, Struct& object) {
  listed::for_each<Struct>([&](const auto& field) { read_field(from, object, field); });
  require_sound(from, object);
}

// The spread of a value over ranks, with its histogram.
struct spread_state {
  std::optional<rank_spread> spread;
  sparse_histogram values;
};

inline void read_spread(message_reader& from, spread_state& made) {
  made.spread.reset();
  if (from.get(1) == 0) return;
  read_fields(from, made.spread.emplace());
  get_histogram(from, made.values);
}

// The processes, their times, and the ranks.
struct ranks_state {
  unlisted_processes processes;
  std::optional<std::uint64_t> ranks;
  rank_account account;
  // The histogram of `outside` is next to it.
  mpi_usage mpi;
  spread_state outside;

  void write(parts_writer& writer) {
    writer.write_fields(processes);
    writer.write_value(ranks, listed::sum);
    if (!ranks) return;
    writer.write_fields(account);
    writer.write_fields(mpi);
    writer.write(outside.spread, outside.values);
  }
  void read(message_reader& from) {
    read_fields(from, processes);
    read_value(from, ranks, listed::sum);
    if (!ranks) return;
    read_fields(from, account);
    read_fields(from, mpi);
    read_spread(from, outside);
  }
  void set(const mpi_usage& usage) {
    mpi = usage;
    if (usage.outside.ranks == 0) return;
    outside.spread = usage.outside;
    outside.values.assign(usage.outside.total_ns.values);
  }
  std::optional<mpi_usage> get_mpi() const {
    if (!outside.spread) return std::nullopt;
    mpi_usage made = mpi;
    made.outside = *outside.spread;
    made.outside.total_ns.values = outside.values.whole();
    return made;
  }
};

inline message_limits read_limits(message_reader& from) {
  message_limits made;
  made.durations = static_cast<std::size_t>(from.get());
  made.ranks = static_cast<std::size_t>(from.get());
  return made;
}

inline void read_path(message_reader& from, std::vector<std::string_view>& path) {
  path.resize(static_cast<std::size_t>(from.get(path.size())));
  const std::size_t names = from.get_count();
  if (names > max_path_names - path.size()) from.fail("has a path with too many names");
  for (std::size_t name = 0; name != names; ++name) path.push_back(from.get_text());
}

}  // namespace adaptyst::lib

#endif
