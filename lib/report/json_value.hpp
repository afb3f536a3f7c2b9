// Reads JSON of a fixed shape, and reports the place of an error.
#ifndef ADAPTYST_LIB_REPORT_JSON_VALUE_HPP
#define ADAPTYST_LIB_REPORT_JSON_VALUE_HPP

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// Throws error, with the offset of the wrong byte. Refuses an object with a repeated key, because parsers differ in the
// value that they take.
nlohmann::json parse_json(std::string_view text);

// A value and the path to it. It refers to the value above, which must outlive it. All functions throw error, with a
// JSON pointer (RFC 6901), if the value has another type.
class json_value {
 public:
  explicit json_value(const nlohmann::json& root) : value_(root) {}

  // An object with these keys, all of the first and any of the second, and no others.
  void require_keys(const std::vector<const char*>& all, const std::vector<const char*>& any) const;
  void require_object() const;
  bool has(const char* key) const { return value_.contains(key); }
  json_value operator[](const std::string& key) const;

  // The number of elements; the value must be an array.
  std::size_t size() const;
  json_value operator[](std::size_t index) const;

  bool is_null() const { return value_.is_null(); }
  std::uint64_t count(std::uint64_t max = std::numeric_limits<std::uint64_t>::max()) const;
  std::int64_t integer() const;
  double number() const;
  const std::string& text() const;
  bool truth() const;

  const nlohmann::json& value() const { return value_; }
  [[noreturn]] void fail(const std::string& expected) const;

 private:
  json_value(const nlohmann::json& value, const json_value& above, std::string key)
      : value_(value), above_(&above), key_(std::move(key)) {}
  [[noreturn]] void complain(const std::string& what) const;
  std::string pointer() const;

  const nlohmann::json& value_;
  const json_value* above_ = nullptr;
  std::string key_;
};

}  // namespace adaptyst::lib

#endif
