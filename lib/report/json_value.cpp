// Parses JSON strictly and reports errors by their place: a byte offset from the parser, a JSON pointer afterwards.
#include "json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* hint =
    "a profile is a file that output=FILE.json made; docs/profile-schema.json describes its content";

// Shortens and escapes a value, because a file may contain long texts and control characters.
std::string shown(const nlohmann::json& value) {
  if (value.is_structured()) return value.type_name();
  const std::string text = value.dump(-1, ' ', true);
  return text.size() <= 60 ? text : text.substr(0, 60) + "…";
}

std::string shown_key(const std::string& key) {
  std::string escaped;
  for (const char c : key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  const std::string text = shown(escaped);
  return text.substr(1, text.size() - (text.back() == '"' ? 2 : 1));
}

std::string beneath(const std::string& above, const std::string& key) { return above + "/" + shown_key(key); }

constexpr std::size_t max_levels = 8;

// Follows the parser, and records the keys of each open object.
class key_watch {
 public:
  bool operator()(int, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    switch (event) {
      case nlohmann::json::parse_event_t::object_start:
      case nlohmann::json::parse_event_t::array_start:
        begin_value();
        if (open_.size() == max_levels) throw error("not a profile: nested deeper than any profile is", 0, hint);
        open_.push_back({event == nlohmann::json::parse_event_t::array_start, 0, {}, {}});
        break;
      case nlohmann::json::parse_event_t::object_end:
      case nlohmann::json::parse_event_t::array_end: open_.pop_back(); break;
      case nlohmann::json::parse_event_t::key: take(parsed.get_ref<const std::string&>()); break;
      case nlohmann::json::parse_event_t::value: begin_value(); break;
    }
    return true;
  }

 private:
  struct container {
    bool is_array;
    std::size_t begun;
    std::set<std::string> keys;
    std::string key;
  };

  void begin_value() {
    if (!open_.empty() && open_.back().is_array) open_.back().key = std::to_string(open_.back().begun++);
  }

  void take(const std::string& key) {
    container& in = open_.back();
    in.key = key;
    if (in.keys.insert(key).second) return;
    std::string where;
    for (const container& each : open_) where = beneath(where, each.key);
    throw error(fmt::format("not a profile: {}: this key occurs twice", where), 0, hint);
  }

  std::vector<container> open_;
};

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  key_watch watch;
  try {
    return nlohmann::json::parse(text.begin(), text.end(), std::ref(watch));
  } catch (const nlohmann::json::parse_error& failure) {
    // "[json.exception…] parse error at line 1, column 2: <what>; last read: '<bytes of the file>'"
    std::string what = failure.what();
    what.erase(std::min(what.find("; last read"), what.size()));
    if (const std::size_t place = what.find("column "); place != std::string::npos)
      what.erase(0, std::min(what.find(": ", place), what.size() - 2) + 2);
    throw error(fmt::format("not a profile: byte {}: {}", failure.byte, what), 0, hint);
  } catch (const nlohmann::json::exception& failure) {  // a number out of range
    std::string what = failure.what();
    what.erase(0, std::min(what.find("] "), what.size() - 2) + 2);
    throw error(fmt::format("not a profile: {}", what.substr(0, 200)), 0, hint);
  }
}

std::string json_value::pointer() const { return above_ == nullptr ? std::string() : beneath(above_->pointer(), key_); }

void json_value::fail(const std::string& expected) const {
  complain(fmt::format("expected {}; found {}", expected, shown(value_)));
}

void json_value::complain(const std::string& what) const {
  const std::string where = pointer();
  throw error(fmt::format("not a profile: {}: {}", where.empty() ? "the whole" : where, what), 0, hint);
}

void json_value::require_object() const {
  if (!value_.is_object()) fail("an object");
}

void json_value::require_keys(const std::vector<const char*>& all, const std::vector<const char*>& any) const {
  require_object();
  for (const char* const key : all)
    if (!has(key)) complain(fmt::format("\"{}\" is missing", key));
  if (value_.size() == all.size()) return;
  for (const auto& [key, value] : value_.items()) {
    const auto same = [&name = key](const char* present) { return name == present; };
    if (std::none_of(all.begin(), all.end(), same) && std::none_of(any.begin(), any.end(), same))
      json_value(value, *this, key).complain("unknown key");
  }
}

json_value json_value::operator[](const std::string& key) const { return {value_.at(key), *this, key}; }

std::size_t json_value::size() const {
  if (!value_.is_array()) fail("an array");
  return value_.size();
}

json_value json_value::operator[](std::size_t index) const { return {value_.at(index), *this, std::to_string(index)}; }

std::uint64_t json_value::count(std::uint64_t max) const {
  std::uint64_t found = 0;
  if (value_.is_number_unsigned()) {
    found = value_.get<std::uint64_t>();
  } else {
    // To a schema, 5.0 is an integer; beyond 2^53 a double does not represent every integer.
    const double number = value_.is_number_float() ? value_.get<double>() : -1;
    if (!(number >= 0 && number <= 0x1p53 && std::floor(number) == number)) fail("an integer from 0 up to 2^64 - 1");
    found = static_cast<std::uint64_t>(number);
  }
  if (found > max) fail(fmt::format("at most {}", max));
  return found;
}

std::int64_t json_value::integer() const {
  if (value_.is_number_unsigned() || !value_.is_number_integer())
    return static_cast<std::int64_t>(count(static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
  return value_.get<std::int64_t>();
}

double json_value::number() const {
  if (!value_.is_number()) fail("a number");
  return value_.get<double>();
}

bool json_value::truth() const {
  if (!value_.is_boolean()) fail("true or false");
  return value_.get<bool>();
}

const std::string& json_value::text() const {
  if (!value_.is_string()) fail("a text");
  return value_.get_ref<const std::string&>();
}

}  // namespace adaptyst::lib
