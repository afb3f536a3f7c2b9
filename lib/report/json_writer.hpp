// Any result as JSON, by its list of fields (listed.hpp). For the two files that write results: json.cpp, and
// variability_json.cpp, which programs do not link.
#ifndef ADAPTYST_LIB_REPORT_JSON_WRITER_HPP
#define ADAPTYST_LIB_REPORT_JSON_WRITER_HPP

#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../model/listed.hpp"
#include "../model/words.hpp"
#include "json_stream.hpp"

namespace adaptyst::lib {

// Specialized for types with a special form in JSON: put(writer, owner, value).
template <class Value>
struct own_form {
  static constexpr bool is_present = false;
};

template <class Value>
bool has_value(const Value& /*value*/) {
  return true;
}
template <class Value>
bool has_value(const std::optional<Value>& value) {
  return value.has_value();
}
inline bool has_value(const std::string& text) { return !text.empty(); }
inline bool has_value(std::string_view text) { return !text.empty(); }
inline bool has_value(bool value) { return value; }
template <class Key, class Value>
bool has_value(const std::map<Key, Value>& all) {
  return !all.empty();
}
template <class Value>
bool has_value(const std::vector<Value>& all) {
  return !all.empty();
}

// For an HTML report: fields marked `unshown` are omitted, and many histograms are coarse.
enum class page_form { none, fine, coarse };

// `Whole`: the result to which all structs belong; their fields may read it.
template <class Whole>
class json_writer {
 public:
  json_writer(json_stream& to, const Whole& whole, page_form page = page_form::none)
      : to_(to), whole_(whole), page_(page) {}

  json_stream& stream() const { return to_; }
  bool is_coarse() const { return page_ == page_form::coarse; }

  // `extra`: writes a key that is not a member, or nothing.
  template <class Struct, class Extra>
  void put_object(const Struct& from, const Extra& extra) const {
    to_.begin_object();
    put_fields(from, listed::fields(listed::type<Struct>{}).fields, extra);
    to_.end_object();
  }
  template <class Struct>
  void put_object(const Struct& from) const {
    put_object(from, [](std::string_view) {});
  }

  template <class Value>
  void put(const Value& value, listed::form as = listed::plain) const {
    if constexpr (listed::is_listed<Value>) put_object(value);
    else if constexpr (std::is_enum_v<Value>) to_.put_text(word_at(value));
    else if constexpr (std::is_same_v<Value, bool>) to_.put(value);
    else if constexpr (std::is_floating_point_v<Value>) to_.put(as == listed::root ? std::sqrt(value) : value);
    else if constexpr (std::is_unsigned_v<Value>) put_count(value, as);
    else if constexpr (std::is_integral_v<Value>) to_.put(static_cast<std::int64_t>(value));
    else if constexpr (std::is_convertible_v<const Value&, std::string_view>) to_.put_text(value);
    else put_several(value, as);
  }
  template <class Value>
  void put(const std::optional<Value>& value, listed::form as = listed::plain) const {
    if (value) put(*value, as);
    else to_.put_null();
  }

 private:
  void put_count(std::uint64_t value, listed::form as) const {
    if ((as == listed::id_or_none || as == listed::not_zero) && value == 0) to_.put_null();
    else if (as == listed::id || as == listed::id_or_none) to_.put_text(fmt::format("{:016x}", value));
    else to_.put(value);
  }

  void put_several(const wide_sum& sum, listed::form /*plain*/) const {
    to_.put_text(fmt::format("{:016x}{:016x}", sum.high, sum.low));
  }
  void put_several(const histogram& durations, listed::form /*plain*/) const {  // pairs of bucket and count
    const std::vector<std::uint64_t>& buckets = durations.buckets();
    to_.begin_array();
    for (std::size_t bucket = 0; bucket != buckets.size(); ++bucket) {
      if (buckets[bucket] == 0) continue;
      to_.begin_array();
      to_.put(std::uint64_t{bucket});
      to_.put(buckets[bucket]);
      to_.end_array();
    }
    to_.end_array();
  }
  template <class Key, class Value>
  void put_several(const std::map<Key, Value>& all, listed::form as) const {
    to_.begin_object();
    for (const auto& [name, value] : writable(all)) {
      to_.key(name);
      put(value, as);
    }
    to_.end_object();
  }
  template <class List>
  void put_several(const List& all, listed::form as) const {
    to_.begin_array();
    if (as == listed::rows) to_.begin_line();
    for (const auto& element : all) put(element);
    if (as == listed::rows) to_.end_line();
    to_.end_array();
  }

  template <class Struct, class Fields, class Extra>
  void put_fields(const Struct& from, const Fields& fields, const Extra& extra) const {
    std::apply([&](const auto&... field) { (put_field(from, field, extra), ...); }, fields);
  }

  template <class Struct, class Value, class Extra>
  void put_field(const Struct& from, const listed::member<Struct, Value>& field, const Extra& /*extra*/) const {
    const Value& value = from.*field.at;
    if (is_left_out(from, field)) return;
    to_.key(field.name);
    if constexpr (own_form<Value>::is_present) own_form<Value>::put(*this, from, value);
    else if (is_untimed(from, field.as)) to_.put_null();
    else put(value, field.as);
  }
  template <class Struct, class Get, class Extra>
  void put_field(const Struct& from, const listed::derived<Get>& field, const Extra& /*extra*/) const {
    const auto& value = listed::get_of(field.get, from, whole_);
    if (field.in == listed::sometimes && !has_value(value)) return;
    to_.key(field.name);
    put(value, field.as);
  }
  template <class Struct, class... Fields, class Extra>
  void put_field(const Struct& from, const listed::object_of<Fields...>& field, const Extra& extra) const {
    to_.key(field.name).begin_object();
    put_fields(from, field.fields, extra);
    to_.end_object();
  }
  template <class Struct, class Get, class Extra>
  void put_field(const Struct& from, const listed::also_of<Get>& field, const Extra& extra) const {
    put_all_of(listed::get_of(field.get, from, whole_), extra);
  }
  template <class Struct, class Value, class Extra>
  void put_field(const Struct& /*from*/, const listed::extra<Value>& field, const Extra& extra) const {
    extra(field.name);
  }

  template <class Struct, class Extra>
  void put_all_of(const Struct& more, const Extra& extra) const {
    put_fields(more, listed::fields(listed::type<Struct>{}).fields, extra);
  }
  template <class Struct, class Extra>
  void put_all_of(const std::optional<Struct>& more, const Extra& extra) const {
    if (more) put_all_of(*more, extra);
  }

  template <class Struct, class Value>
  bool is_left_out(const Struct& from, const listed::member<Struct, Value>& field) const {
    if (field.as == listed::unshown && page_ != page_form::none) return true;
    if constexpr (std::is_same_v<Struct, region>)
      if (field.as == listed::root) return !from.timed_events;
    return field.in == listed::sometimes && !has_value(from.*field.at);
  }
  template <class Struct>
  static bool is_untimed(const Struct& from, listed::form as) {
    if constexpr (std::is_same_v<Struct, region>) return as == listed::timed && from.durations.count() == 0;
    else return false;
  }

  // Entries by their names in the file. Names that differ only in replaced bytes become one, because readers differ in
  // the value that they take for a repeated key.
  template <class Key, class Value>
  static std::map<std::string, Value> writable(const std::map<Key, Value>& all) {
    std::map<std::string, Value> made;
    for (const auto& [name, value] : all) {
      const auto [entry, is_new] = made.try_emplace(replace_invalid(to_text(name)), value);
      if (!is_new) join(entry->second, value);
    }
    return made;
  }
  template <class Key>
  static std::string to_text(const Key& key) {
    if constexpr (std::is_same_v<Key, std::string>) return key;
    else return to_string(key);
  }
  static void join(std::string& text, const std::string& from) { text += " | " + from; }
  static void join(std::uint64_t& sum, std::uint64_t from) { sum += from; }
  static void join(double& /*first*/, double /*from*/) {}
  static void join(attribute& sum, const attribute& from) { sum.merge(from); }

  template <class Value>
  friend struct own_form;

  json_stream& to_;
  const Whole& whole_;
  const page_form page_;
};

// The result as text that ends with a line feed.
template <class Result>
std::string make_json(const Result& from) {
  std::string made;
  json_stream to([&](std::string_view piece) { made += piece; });
  json_writer<Result>(to, from).put_object(from);
  to.finish();
  return made;
}

}  // namespace adaptyst::lib

#endif
