// Splits a text into options and sets each by the table. Values may contain commas, so the text is split only at a
// comma before the name of an option.
#include "options.hpp"

#include <fmt/format.h>

#include "levels.hpp"
#include "nearest.hpp"
#include "option_table.hpp"

namespace adaptyst::lib {

namespace {

// Whether an option begins here: a key and "=". In a list of levels, step=model is a part of the list.
bool begins_option(std::string_view text, std::string_view before) {
  const std::size_t key = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  if (key == 0 || key == std::string_view::npos || text[key] != '=') return false;
  if (before != "level" || find_option(text.substr(0, key)) != nullptr) return true;
  const std::string_view value = text.substr(key + 1, text.find_first_of(",;", key) - key - 1);
  const bool is_number = value.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number || !parse_level(value);
}

// The text up to the comma before the next option. Lists and names of C++ functions contain commas.
std::string_view first_pair(std::string_view text) {
  std::size_t comma = text.find(',');
  const option_entry* const entry = find_option(text.substr(0, text.find('=')));
  if (entry != nullptr && entry->has_commas)
    while (comma != std::string_view::npos && !begins_option(text.substr(comma + 1), entry->name))
      comma = text.find(',', comma + 1);
  return text.substr(0, comma);
}

void set_pair(options& options, std::string_view pair, std::vector<error>& wrong) {
  const std::size_t equals = pair.find('=');
  const std::string_view key = pair.substr(0, equals);
  const option_entry* const entry = find_option(key);
  if (equals == std::string_view::npos)
    wrong.emplace_back(fmt::format("no '=' in the option '{}'", pair), std::string(pair), 0,
                       did_you_mean(pair, option_names()));
  else if (entry == nullptr)
    wrong.emplace_back(fmt::format("unknown option '{}'", key), std::string(key), 0, did_you_mean(key, option_names()));
  else entry->set(options, pair.substr(equals + 1), wrong);
}

// Adds the errors to `errors`. Each message then names the source of the option and reports that it is ignored.
void add_ignored(std::vector<error>& errors, const std::vector<error>& wrong, std::string_view source) {
  for (const error& error : wrong)
    errors.emplace_back(fmt::format("{} in {}: ignored", error.summary(), source), error.subject(), 0, error.hint());
}

}  // namespace

std::vector<error> apply(options& options, std::string_view text, std::string_view source) {
  std::vector<error> left_out;
  while (!text.empty()) {
    const std::string_view pair = first_pair(text);
    text.remove_prefix(pair.size() < text.size() ? pair.size() + 1 : text.size());
    std::vector<error> wrong;
    set_pair(options, pair, wrong);
    add_ignored(left_out, wrong, source);
  }
  return left_out;
}

std::vector<error> check(options& checked, std::string_view source) {
  std::vector<error> wrong, left_out;
  for (const option_entry& entry : option_table())
    if (entry.check != nullptr) entry.check(checked, wrong);
  add_ignored(left_out, wrong, source);
  return left_out;
}

std::map<std::string, std::string> changed_values(const options& options) {
  std::map<std::string, std::string> all;
  for (const option_entry& entry : option_table())
    if (std::string value = entry.get(options); value != find_default(entry)) all.emplace(entry.name, std::move(value));
  return all;
}

}  // namespace adaptyst::lib

namespace adaptyst { inline namespace v1 {

std::string to_string(const options& options) {
  std::string text;
  for (const lib::option_entry& entry : lib::option_table())
    if (const std::string value = entry.get(options); value != lib::find_default(entry))
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", entry.name, value);
  return text;
}

options parse_options(std::string_view text, std::vector<error>* left_out) {
  options made;
  std::vector<error> wrong = lib::apply(made, text, "the text");
  if (left_out != nullptr) *left_out = std::move(wrong);
  return made;
}

}}  // namespace adaptyst::v1
