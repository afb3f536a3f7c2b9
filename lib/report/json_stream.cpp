// Commas, line breaks and indents between values; numbers and texts as the library for JSON spells them.
#include "json_stream.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace adaptyst::lib {

namespace {

constexpr std::size_t passed_on_at_once = std::size_t{1} << 16U;

}  // namespace

void json_stream::pass_on() {
  to_(text_);
  text_.clear();
}

void json_stream::break_line() {
  if (text_.size() >= passed_on_at_once) pass_on();
  text_ += '\n';
  text_.append(depth_, ' ');
}

json_stream& json_stream::key(std::string_view name) {
  if (!is_first_) text_ += ',';
  is_first_ = false;
  break_line();
  text_ += '"';
  text_ += name;
  text_ += "\": ";
  has_key_ = true;
  return *this;
}

void json_stream::before_value() {
  const bool had_key = has_key_;
  has_key_ = false;
  if (had_key || depth_ == 0) return;
  if (!is_first_) text_ += ',';
  is_first_ = false;
  break_line();
}

void json_stream::begin(char bracket) {
  before_value();
  text_ += bracket;
  ++depth_;
  is_first_ = true;
}

void json_stream::end(char bracket) {
  --depth_;
  if (!is_first_) break_line();
  text_ += bracket;
  is_first_ = false;
}

void json_stream::put(std::uint64_t number) {
  before_value();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void json_stream::put(double number) {
  if (!std::isfinite(number)) return put_null();
  before_value();
  // Its own, since others choose other digits for some numbers, and another length for some exponents.
  char bytes[64];
  char* const end = nlohmann::detail::to_chars(bytes, bytes + sizeof bytes, number);
  text_.append(bytes, static_cast<std::size_t>(end - bytes));
}

void json_stream::put(bool truth) {
  before_value();
  text_ += truth ? "true" : "false";
}

void json_stream::put_null() {
  before_value();
  text_ += "null";
}

void json_stream::put_text(std::string_view text) {
  before_value();
  text_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void json_stream::finish() {
  text_ += '\n';
  pass_on();
}

}  // namespace adaptyst::lib
