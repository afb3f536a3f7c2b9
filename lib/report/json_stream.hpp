// JSON that is passed on while it is made, for results of hundreds of thousands of rows: neither a tree nor the whole
// text is in memory. Lists and objects have a line for each element, except between begin_line() and end_line().
// Invalid UTF-8 is replaced; a number that is not finite is null.
#ifndef ADAPTYST_LIB_REPORT_JSON_STREAM_HPP
#define ADAPTYST_LIB_REPORT_JSON_STREAM_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "../support/output_file.hpp"

namespace adaptyst::lib {

// The text as the file contains it: invalid UTF-8 is replaced.
std::string replace_invalid(std::string_view text);

class json_stream {
 public:
  // `is_compact`: without line breaks and spaces.
  explicit json_stream(text_taker to, bool is_compact = false) : to_(std::move(to)), is_compact_(is_compact) {}

  // The key of the next value, in an object.
  json_stream& key(std::string_view name);

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }

  // Between these calls, each element of the open list has one line. Nested calls have no effect.
  void begin_line();
  void end_line();

  void put(std::uint64_t number);
  void put(std::int64_t number);
  void put(double number);
  void put(bool truth);
  void put_null();
  void put_text(std::string_view text);

  // Call it after the last value.
  void finish();

 private:
  void begin(char bracket);
  void end(char bracket);
  void before_value();
  void break_line();
  void spell(std::string_view text);
  void pass_on();
  // Only below the depth of begin_line(): the element at that depth begins a line.
  bool is_on_one_line() const { return is_compact_ || (one_line_depth_ != 0 && depth_ > one_line_depth_); }

  const text_taker to_;
  const bool is_compact_;
  std::string text_;
  std::size_t depth_ = 0, one_line_depth_ = 0;
  bool is_first_ = true;  // in the open list or object
  bool has_key_ = false;
};

}  // namespace adaptyst::lib

#endif
