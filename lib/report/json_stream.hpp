// JSON that is passed on while it is made, for results of hundreds of thousands of rows: neither a tree nor the whole text is
// in memory. The bytes are those of nlohmann's dump(1), with invalid UTF-8 replaced.
#ifndef ADAPTYST_LIB_REPORT_JSON_STREAM_HPP
#define ADAPTYST_LIB_REPORT_JSON_STREAM_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../support/output_file.hpp"

namespace adaptyst::lib {

class json_stream {
 public:
  explicit json_stream(const text_taker& to) : to_(to) {}

  // Of the value that comes next, in an object.
  json_stream& key(std::string_view name);  // without what JSON escapes

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }

  void put(std::uint64_t number);
  void put(double number);
  void put(bool truth);
  void put_null();
  void put_text(std::string_view text);
  template <class Number>
  void put(const std::optional<Number>& number) {
    if (number) put(*number);
    else put_null();
  }

  // Behind the last value.
  void finish();

 private:
  void begin(char bracket);
  void end(char bracket);
  void before_value();
  void break_line();
  void pass_on();

  const text_taker& to_;
  std::string text_;
  std::size_t depth_ = 0;
  bool is_first_ = true;  // of what is open
  bool has_key_ = false;
};

}  // namespace adaptyst::lib

#endif
