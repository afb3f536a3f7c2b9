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

bool has_known_form(std::string_view text) {
  const std::vector<std::string_view> names = form_names();
  return std::find(names.begin(), names.end(), text.substr(0, text.find(':'))) != names.end();
}

bool has_known_suffix(std::string_view text) {
  const std::vector<form_entry>& forms = output_forms();
  return std::any_of(forms.begin(), forms.end(),
                     [&](const form_entry& entry) { return has_suffix(text, entry.suffix); });
}

// The position of a comma between two texts that are both outputs; npos: none. A file name may have commas.
std::size_t comma_between_outputs(std::string_view text) {
  const bool is_named = text.find(':') != std::string_view::npos && has_known_form(text);
  for (std::size_t at = text.find(','); at != std::string_view::npos; at = text.find(',', at + 1)) {
    const std::string_view behind = text.substr(at + 1);
    const bool begins_another = behind.find(':') != std::string_view::npos && has_known_form(behind);
    if (begins_another || (!is_named && has_known_suffix(text.substr(0, at)) && has_known_suffix(behind))) return at;
  }
  return std::string_view::npos;
}

// Whether a name without a suffix, or with an unknown one, is a Chrome trace.
bool is_timeline_name(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  const std::size_t point = name.rfind('.');
  if (point == std::string_view::npos || point == 0 || name.find('%', point) != std::string_view::npos) return true;
  const std::string_view suffix = name.substr(point);
  const std::vector<form_entry>& forms = output_forms();
  return suffix == ".json" || std::any_of(forms.begin(), forms.end(), [&](const form_entry& entry) {
           return entry.form == output_form::trace && entry.suffix == suffix;
         });
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace

const std::vector<form_entry>& output_forms() {
  static const auto& all = never_destroyed<std::vector<form_entry>>({
      {output_form::trace, output_source::events, "trace", ".trace.json", "timeline, for Perfetto or chrome://tracing"},
      {output_form::trace, output_source::events, "trace", ".pftrace", "timeline, for Perfetto; smaller",
       timeline_kind::perfetto},
      {output_form::trace, output_source::events, "trace", ".sqlite",
       "timeline as a store for SQL and `adaptyst variability`; not by a collector in a program", timeline_kind::store},
      {output_form::trace, output_source::events, "trace", ".events",
       "timeline as an event log, for `adaptyst convert` and `variability`; the smallest file",
       timeline_kind::event_log},
      {output_form::speedscope, output_source::stacks, "speedscope", ".speedscope.json",
       "stacks, for speedscope.app; enables stack samples"},
      {output_form::talp, output_source::profile, "talp", ".talp.json",
       "efficiencies of the profile, as TALP writes them"},
      {output_form::json, output_source::profile, "json", ".json", "profile"},
      {output_form::folded, output_source::stacks, "folded", ".folded",
       "stacks, for flame graphs; enables stack samples"},
      {output_form::html, output_source::profile, "html", ".html", "profile as an HTML report for a browser, offline"},
      {output_form::table, output_source::profile, "table", ".txt", "profile as a table, as `report=table` prints it"},
      {output_form::csv, output_source::profile, "csv", ".csv", "regions of the profile, for spreadsheets"},
      {output_form::pprof, output_source::profile, "pprof", ".pb.gz", "regions of the profile, for pprof"},
      {output_form::prometheus, output_source::profile, "prometheus", ".prom",
       "regions of the profile, for the text-file collector of Prometheus"},
      {output_form::caliper, output_source::profile, "caliper", ".cali",
       "regions of the profile, for Hatchet and Thicket; one file a rank"},
  });
  return all;
}

std::string_view form_name(output_form form) {
  for (const form_entry& entry : output_forms())
    if (entry.form == form) return entry.name;
  return {};
}

output_source source_of(output_form form) {
  for (const form_entry& entry : output_forms())
    if (entry.form == form) return entry.source;
  return output_source::profile;
}

std::string list_forms(output_source source) {
  std::string all;
  for (const form_entry& entry : output_forms())
    if (entry.source == source) all += (all.empty() ? "" : ", ") + std::string(entry.name);
  return all;
}

std::vector<output_form> forms_from(output_source source) {
  std::vector<output_form> all;
  for (const form_entry& entry : output_forms())
    if (entry.source == source) all.push_back(entry.form);
  return all;
}

std::optional<output> parse_output(std::string_view text, std::vector<error>& wrong) {
  const std::string_view before = text.substr(0, text.find(':'));
  std::optional<output> made;
  if (const std::size_t comma = comma_between_outputs(text); comma != std::string_view::npos) {
    std::string separated(text);
    separated[comma] = ';';
    wrong.emplace_back(fmt::format("a comma between outputs in '{}'", text), std::string(text), 0,
                       fmt::format("write '{}', or give the option twice", separated));
    return std::nullopt;
  }
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
    if (!made && has_suffix(text, entry.suffix)) made = {entry.form, std::string(text)};
  if (made && made->form == output_form::trace && !is_timeline_name(made->file)) {
    wrong.emplace_back(
        fmt::format("no timeline can be written in the form of '{}'", made->file), made->file, 0,
        "end it in .trace.json or .pftrace for viewers, in .sqlite for a store, or in .events for an event log");
    return std::nullopt;
  }
  if (!made) {
    wrong.emplace_back(fmt::format("no form for output '{}'", text), std::string(text), 0,
                       fmt::format("end it in {}, or write FORM:FILE, as in json:{}", known_suffixes(), text));
    return std::nullopt;
  }
  return is_file_name(*made, wrong) ? made : std::nullopt;
}

bool has_suffix(std::string_view file, std::string_view suffix) {
  return file.size() > suffix.size() && file.substr(file.size() - suffix.size()) == suffix;
}

timeline_kind choose_timeline(std::string_view file) {
  for (const form_entry& entry : output_forms())
    if (entry.form == output_form::trace && has_suffix(file, entry.suffix)) return entry.timeline;
  return timeline_kind::chrome_trace;
}

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

bool distinguishes_processes(std::string_view pattern) {
  for (std::size_t at = 0; at + 1 < pattern.size(); ++at)
    if (pattern[at] == '%' && (pattern[++at] == 'p' || pattern[at] == 'r')) return true;
  return false;
}

std::string with_number(const std::string& file, std::string_view number) {
  const std::size_t name = file.rfind('/') + 1;  // 0 without a slash
  std::size_t place = std::max(file.rfind('.'), name);
  if (place == std::string::npos || place == name) place = file.size();
  for (const form_entry& entry : output_forms())
    if (has_suffix(file, entry.suffix)) place = std::min(place, file.size() - entry.suffix.size());
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
