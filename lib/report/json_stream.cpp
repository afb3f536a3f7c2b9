// Commas, line breaks and indents between values; nlohmann::json escapes texts.
#include "json_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace adaptyst::lib {

namespace {

constexpr std::size_t passed_on_at_once = std::size_t{1} << 16U;

}  // namespace

std::string replace_invalid(std::string_view text) {
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void json_stream::pass_on() {
  to_(text_);
  text_.clear();
}

void json_stream::break_line() {
  if (text_.size() >= passed_on_at_once) pass_on();
  if (is_on_one_line()) return;
  text_ += '\n';
  text_.append(depth_, ' ');
}

void json_stream::spell(std::string_view text) {
  const auto is_plain = [](char character) {
    return character >= ' ' && character <= '~' && character != '"' && character != '\\';
  };
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    text_.append(1, '"').append(text).append(1, '"');
    return;
  }
  text_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

json_stream& json_stream::key(std::string_view name) {
  if (!is_first_) text_ += ',';
  is_first_ = false;
  break_line();
  spell(name);
  text_ += is_on_one_line() ? ":" : ": ";
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
  const bool begins_no_line = is_first_ || is_on_one_line();
  --depth_;
  if (!begins_no_line) break_line();
  text_ += bracket;
  is_first_ = false;
}

void json_stream::begin_line() {
  if (one_line_depth_ == 0) one_line_depth_ = depth_;
}

void json_stream::end_line() {
  if (one_line_depth_ == depth_) one_line_depth_ = 0;
}

void json_stream::put(std::uint64_t number) {
  before_value();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void json_stream::put(std::int64_t number) {
  before_value();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

// Whole numbers have a point as well, so that a reader can distinguish them from counts.
void json_stream::put(double number) {
  if (!std::isfinite(number)) return put_null();
  before_value();
  const std::size_t begin = text_.size();
  fmt::format_to(std::back_inserter(text_), "{}", number);
  if (text_.find_first_of(".e", begin) == std::string::npos) text_ += ".0";
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
  spell(text);
}

void json_stream::finish() {
  if (!is_compact_) text_ += '\n';
  pass_on();
}

}  // namespace adaptyst::lib
