// The table of output forms, the syntax [FORM:]FILE, and the placeholders in file names.
#include "output_form.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "launch_rank.hpp"
#include "nearest.hpp"
#include "never_destroyed.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::string_view placeholders = "prh%";

std::vector<std::string_view> form_names() {
  std::vector<std::string_view> names;
  for (const form_entry& entry : output_forms()) names.push_back(entry.name);
  return names;
}

std::string known_suffixes() {
  std::string all;
  for (const form_entry& entry : output_forms()) all += fmt::format("{}{}", all.empty() ? "" : ", ", entry.suffix);
  return all;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace

const std::vector<form_entry>& output_forms() {
  static const auto& all = never_destroyed<std::vector<form_entry>>({
      {output_form::trace, "trace", ".trace.json", "what happened when, for Perfetto or chrome://tracing"},
      {output_form::trace, "trace", ".sqlite",
       "the same for SQL and `adaptyst variability`; not by a collector in a program"},
      {output_form::trace, "trace", ".events",
       "the same in few bytes, also by a collector in a program; `adaptyst convert` and `variability` read it"},
      {output_form::speedscope, "speedscope", ".speedscope.json", "stacks, for speedscope.app; turns samples on"},
      {output_form::json, "json", ".json", "the profile"},
      {output_form::folded, "folded", ".folded", "stacks, for flame graphs; turns samples on"},
      {output_form::html, "html", ".html", "the profile as a page for a browser, offline"},
      {output_form::table, "table", ".txt", "the profile for people, as `report=table` prints it"},
  });
  return all;
}

std::string_view form_name(output_form form) {
  for (const form_entry& entry : output_forms())
    if (entry.form == form) return entry.name;
  return {};
}

std::optional<output> parse_output(std::string_view text, std::vector<error>& wrong) {
  const std::string_view before = text.substr(0, text.find(':'));
  std::optional<output> made;
  if (before.size() != text.size()) {
    for (const form_entry& entry : output_forms())
      if (entry.name == before) made = {entry.form, std::string(text.substr(before.size() + 1))};
    if (!made && before.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos &&
        !nearest(before, form_names()).empty()) {
      wrong.emplace_back(fmt::format("unknown form '{}' of output '{}'", before, text), std::string(before), 0,
                         did_you_mean(before, form_names()) + "; a file of this name: json:" + std::string(text));
      return std::nullopt;
    }
  }
  for (const form_entry& entry : output_forms())
    if (!made && ends_with(text, entry.suffix)) made = {entry.form, std::string(text)};
  if (!made) {
    wrong.emplace_back(fmt::format("no form for output '{}'", text), std::string(text), 0,
                       fmt::format("end it in {}, or write FORM:FILE, as in json:{}", known_suffixes(), text));
    return std::nullopt;
  }
  return is_file_name(*made, wrong) ? made : std::nullopt;
}

bool is_store_name(std::string_view file) { return ends_with(file, ".sqlite"); }

bool is_event_log_name(std::string_view file) { return ends_with(file, ".events"); }

std::string to_text(const output& wanted) {
  std::vector<error> wrong;
  const std::optional<output> by_suffix = parse_output(wanted.file, wrong);
  if (by_suffix && by_suffix->form == wanted.form && by_suffix->file == wanted.file) return wanted.file;
  return fmt::format("{}:{}", form_name(wanted.form), wanted.file);
}

bool is_file_name(const output& output, std::vector<error>& wrong) {
  const auto refuse = [&](const char* what) {
    wrong.emplace_back(fmt::format("{} '{}'", what, output.file), output.file, 0,
                       "%p: pid, %r: MPI rank, %h: host, %%: '%'");
    return false;
  };
  if (output.file.empty()) return refuse("no file for the output");
  for (std::size_t at = 0; at < output.file.size(); ++at)
    if (output.file[at] == '%' &&
        (++at == output.file.size() || placeholders.find(output.file[at]) == std::string_view::npos))
      return refuse("unknown placeholder in the output");
  return true;
}

bool tells_processes_apart(std::string_view pattern) {
  for (std::size_t at = 0; at + 1 < pattern.size(); ++at)
    if (pattern[at] == '%' && (pattern[++at] == 'p' || pattern[at] == 'r')) return true;
  return false;
}

std::string with_number(const std::string& file, std::string_view number) {
  const std::size_t name = file.rfind('/') + 1;  // 0 without a slash
  std::size_t place = std::max(file.rfind('.'), name);
  if (place == std::string::npos || place == name) place = file.size();
  for (const form_entry& entry : output_forms())
    if (ends_with(file, entry.suffix)) place = std::min(place, file.size() - entry.suffix.size());
  return fmt::format("{}-{}{}", file.substr(0, place), number, file.substr(place));
}

std::string expand(std::string_view pattern) {
  std::string name;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      name += pattern[at];
      continue;
    }
    switch (pattern[++at]) {
      case 'p': name += std::to_string(getpid()); break;
      case 'r': name += launch_rank().empty() ? "0" : launch_rank(); break;
      case 'h': name += host_name(); break;
      default: name += '%';
    }
  }
  return name;
}

}  // namespace adaptyst::lib
