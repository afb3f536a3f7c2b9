// The table of all options. Each row has a function that sets the option from a text, and one that formats it.
#include "option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "levels.hpp"
#include "nearest.hpp"
#include "never_destroyed.hpp"
#include "output_form.hpp"

namespace adaptyst::lib {

namespace {

using errors = std::vector<error>;
using words = std::vector<std::string_view>;

template <std::size_t N>
using choices = std::array<std::string_view, N>;

constexpr choices<4> engines = {"auto", "ebpf", "inline", "off"};             // in the order of engine_choice
constexpr choices<5> reports = {"table", "none", "json", "csv", "markdown"};  // of report_choice
constexpr choices<2> no_yes = {"no", "yes"};
constexpr choices<5> contexts = {"cpu", "faults", "samples", "counters", "none"};

template <std::size_t N>
words list_choices(const choices<N>& choices) {
  return {choices.begin(), choices.end()};
}

struct range {
  std::uint64_t min, max;

  bool has(std::uint64_t value) const { return value >= min && value <= max; }
  std::string to_hint() const { return fmt::format("a number from {} to {}", min, max); }
};

constexpr range frequencies{1, 10'000};
constexpr range ring_entries{64, std::uint64_t{1} << 24};
constexpr range timeline_bytes{std::uint64_t{1} << 20, std::uint64_t{1} << 50};
constexpr const char* overheads = "none, or from 0.1% to 100%";
constexpr const char* sizes = "none, or a size such as 256M or 2G";

words split(std::string_view text, const char* separators) {
  words parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find_first_of(separators));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

void refuse(errors& wrong, std::string_view name, std::string_view value, const std::string& hint) {
  wrong.emplace_back(fmt::format("unknown {} '{}'", name, value), std::string(value), 0, hint);
}

// Replaces a value from a program by the default if it is wrong.
template <class T>
void require(bool is_right, options& checked, T options::*which, std::string_view name, const std::string& value,
             const std::string& hint, errors& wrong) {
  if (is_right) return;
  refuse(wrong, name, value, hint);
  checked.*which = options{}.*which;
}

template <class T, std::size_t N>
void require_choice(options& checked, T options::*which, const choices<N>& all, std::string_view name, errors& wrong) {
  const auto at = static_cast<std::size_t>(checked.*which);
  require(at < N, checked, which, name, std::to_string(at), did_you_mean("", list_choices(all)), wrong);
}

// The index of a value among the words. Unknown value: the number of words, and an error.
template <std::size_t N>
std::size_t find_index(std::string_view value, const choices<N>& choices, std::string_view name, errors& wrong) {
  const auto at = static_cast<std::size_t>(std::find(choices.begin(), choices.end(), value) - choices.begin());
  if (at == choices.size()) refuse(wrong, name, value, did_you_mean(value, list_choices(choices)));
  return at;
}

void set_engine(options& options, std::string_view value, errors& wrong) {
  const std::size_t at = find_index(value, engines, "engine", wrong);
  if (at != engines.size()) options.engine = static_cast<engine_choice>(at);
}

void set_report(options& options, std::string_view value, errors& wrong) {
  const std::size_t at = find_index(value, reports, "report", wrong);
  if (at != reports.size()) options.report = static_cast<report_choice>(at);
}

void check_engine(options& checked, errors& wrong) {
  require_choice(checked, &options::engine, engines, "engine", wrong);
}
void check_report(options& checked, errors& wrong) {
  require_choice(checked, &options::report, reports, "report", wrong);
}

std::string format_engine(const options& options) {
  return std::string(engines[static_cast<std::size_t>(options.engine)]);
}
std::string format_report_option(const options& options) {
  return std::string(reports[static_cast<std::size_t>(options.report)]);
}

void set_output(options& options, std::string_view value, errors& wrong) {
  std::vector<output> outputs;
  for (const std::string_view one : split(value, ";"))
    if (std::optional<output> made = parse_output(one, wrong)) outputs.push_back(*std::move(made));
  if (outputs.empty() && wrong.empty()) parse_output({}, wrong);
  if (!outputs.empty()) put_outputs(options, outputs, wrong);
}

void check_outputs(options& checked, errors& wrong) { put_outputs(checked, checked.outputs, wrong); }

std::string format_outputs(const options& options) {
  std::string all;
  for (const output& output : options.outputs) all += fmt::format("{}{}", all.empty() ? "" : ";", to_text(output));
  return all;
}

void set_overhead(options& options, std::string_view value, errors& wrong) {
  double percent = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), percent);
  const std::string_view behind(end, static_cast<std::size_t>(value.data() + value.size() - end));
  if (value == "none") options.overhead = 0;
  else if (failed == std::errc() && behind == "%" && percent >= 0.1 && percent <= 100) options.overhead = percent / 100;
  else if (failed == std::errc() && behind.empty())
    refuse(wrong, "overhead", value, fmt::format("write it with a percent sign, as in {}%; {}", value, overheads));
  else refuse(wrong, "overhead", value, overheads);
}

std::string format_overhead(const options& options) {
  return options.overhead == 0 ? "none" : fmt::format("{:.6g}%", options.overhead * 100);
}

void check_overhead(options& checked, errors& wrong) {
  const double share = checked.overhead;
  require(share == 0 || (share >= 0.001 && share <= 1), checked, &options::overhead, "overhead",
          format_overhead(checked), overheads, wrong);
}

void set_context(options& options, std::string_view value, errors& wrong) {
  context_choice made{false, false, false, false, true};
  bool any = false;
  for (const std::string_view word : split(value, ",;")) {
    if (find_index(word, contexts, "context", wrong) == contexts.size()) continue;
    any = true;
    if (word == "none") continue;
    made.cpu = true;
    if (word == "faults") made.faults = true;
    if (word == "samples") made.samples = true;
    if (word == "counters") made.counters = true;
  }
  if (value.empty()) refuse(wrong, "context", value, did_you_mean(value, list_choices(contexts)));
  if (any) options.context = made;
}

void check_context(options& checked, errors&) {
  context_choice& is = checked.context;
  is.asked = is.asked || !is.cpu || !is.faults || is.samples || is.counters;
  is.cpu = is.cpu || is.faults || is.samples || is.counters;
}

std::string format_context(const options& options) {
  const context_choice& is = options.context;
  if (!is.asked && is.cpu && is.faults && !is.samples && !is.counters) return {};
  std::string all = is.cpu ? "cpu" : "";
  const auto add = [&](bool wanted, const char* word) {
    if (wanted) all += fmt::format("{}{}", all.empty() ? "" : ",", word);
  };
  add(is.faults, "faults");
  add(is.samples, "samples");
  add(is.counters, "counters");
  return all.empty() ? "none" : all;
}

std::optional<std::uint64_t> number_within(const range& allowed, std::string_view name, std::string_view value,
                                           errors& wrong) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failed == std::errc() && end == value.data() + value.size() && allowed.has(number)) return number;
  refuse(wrong, name, value, allowed.to_hint());
  return std::nullopt;
}

void set_sample_frequency(options& options, std::string_view value, errors& wrong) {
  if (const auto number = number_within(frequencies, "sample_frequency", value, wrong))
    options.sample_frequency = *number;
}

void check_sample_frequency(options& checked, errors& wrong) {
  require(frequencies.has(checked.sample_frequency), checked, &options::sample_frequency, "sample_frequency",
          std::to_string(checked.sample_frequency), frequencies.to_hint(), wrong);
}

std::uint64_t round_up_to_power_of_2(std::uint64_t number) {
  std::uint64_t power = 1;
  while (power < number) power *= 2;
  return power;
}

void set_trace_events(options& options, std::string_view value, errors& wrong) {
  if (const auto number = number_within(ring_entries, "trace_events", value, wrong))
    options.trace_events = round_up_to_power_of_2(*number);
}

void check_trace_events(options& checked, errors& wrong) {
  require(ring_entries.has(checked.trace_events), checked, &options::trace_events, "trace_events",
          std::to_string(checked.trace_events), ring_entries.to_hint(), wrong);
  checked.trace_events = round_up_to_power_of_2(checked.trace_events);
}

// Names of sets may be joined by commas; names of C++ functions contain commas.
void add_functions(options& options, std::string_view value) {
  for (const std::string_view one : split(value, ";"))
    for (const std::string_view part : one.find(':') == std::string_view::npos ? split(one, ",") : words{one})
      options.functions.emplace_back(part);
}

void set_functions(options& options, std::string_view value, errors&) {
  options.functions.clear();
  add_functions(options, value);
}

void check_functions(options& checked, errors&) {
  for (const std::string& one : std::exchange(checked.functions, {})) add_functions(checked, one);
}

constexpr std::size_t max_keep_bytes = 200;
constexpr const char* kept_in = "a directory, in at most 200 bytes";

void set_keep(options& options, std::string_view value, errors& wrong) {
  if (value.empty() || value.size() > max_keep_bytes) refuse(wrong, "keep", value, kept_in);
  else options.keep = value;
}

void check_keep(options& checked, errors& wrong) {
  require(checked.keep.size() <= max_keep_bytes, checked, &options::keep, "keep", checked.keep, kept_in, wrong);
}

std::string format_keep(const options& options) { return options.keep; }

std::string no_room() { return fmt::format("all patterns together take {} bytes at most", max_level_rules_bytes); }

std::optional<level> read_level(std::string_view word, errors& wrong) {
  const std::optional<level> known = parse_level(word);
  if (!known) refuse(wrong, "level", word, did_you_mean(word, level_names()));
  return known;
}

// PATTERN=LEVEL
void add_level_rule(options& options, std::string_view rule, errors& wrong) {
  const std::size_t equals = rule.rfind('=');
  if (equals == 0 || equals == std::string_view::npos)
    return refuse(wrong, "level", rule, "PATTERN=LEVEL, such as 'MPI_*=library'");
  if (!read_level(rule.substr(equals + 1), wrong)) return;
  options.levels.emplace_back(rule);
  if (has_room_for(options.levels, options.without)) return;
  options.levels.pop_back();
  refuse(wrong, "level", rule, no_room());
}

// The deepest level, and the rules that assign levels to markers.
void set_level(options& options, std::string_view value, errors& wrong) {
  for (const std::string_view part : split(value, ";")) {
    if (part.find('=') != std::string_view::npos) add_level_rule(options, part, wrong);
    else if (const auto known = read_level(part, wrong)) options.level = static_cast<unsigned>(*known);
  }
}

void check_level(options& checked, errors& wrong) {
  require(checked.level <= level_names().size(), checked, &options::level, "level", std::to_string(checked.level),
          did_you_mean("", level_names()), wrong);
  const std::vector<std::string> patterns = std::exchange(checked.without, {});  // they get the remaining room
  for (const std::string& rule : std::exchange(checked.levels, {})) add_level_rule(checked, rule, wrong);
  checked.without = patterns;
}

std::string format_level(const options& options) {
  std::string all = options.level == 0 ? "" : level_names()[options.level - 1].data();
  for (const std::string& rule : options.levels) all += fmt::format("{}{}", all.empty() ? "" : ";", rule);
  return all;
}

void add_without(options& options, std::string_view pattern, errors& wrong) {
  options.without.emplace_back(pattern);
  if (has_room_for(options.levels, options.without)) return;
  options.without.pop_back();
  refuse(wrong, "without", pattern, no_room());
}

void set_without(options& options, std::string_view value, errors& wrong) {
  for (const std::string_view part : split(value, ";")) add_without(options, part, wrong);
}

void check_without(options& checked, errors& wrong) {
  for (const std::string& pattern : std::exchange(checked.without, {})) add_without(checked, pattern, wrong);
}

std::string format_without(const options& options) { return fmt::format("{}", fmt::join(options.without, ";")); }

// In MiB, or with a unit: 256, 256M, 2G.
void set_timeline_limit(options& options, std::string_view value, errors& wrong) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(value.data() + value.size() - end));
  const unsigned shift = unit == "G" ? 30 : 20;
  if (value == "none") options.timeline_limit = 0;
  else if (failed == std::errc() && (unit.empty() || unit == "M" || unit == "G") && number != 0 &&
           number <= timeline_bytes.max >> shift)
    options.timeline_limit = number << shift;
  else refuse(wrong, "timeline_limit", value, sizes);
}

void check_timeline_limit(options& checked, errors& wrong) {
  require(checked.timeline_limit == 0 || timeline_bytes.has(checked.timeline_limit), checked, &options::timeline_limit,
          "timeline_limit", std::to_string(checked.timeline_limit), sizes, wrong);
}

std::string format_timeline_limit(const options& options) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const std::uint64_t bytes = options.timeline_limit;
  if (bytes == 0) return "none";
  return bytes % gib == 0 ? fmt::format("{}G", bytes / gib) : fmt::format("{}M", bytes >> 20);
}

std::string format_functions(const options& options) { return fmt::format("{}", fmt::join(options.functions, ";")); }

template <std::uint64_t options::*Which>
std::string format_number(const options& options) {
  return std::to_string(options.*Which);
}

template <bool options::*Which>
void set_flag(options& options, std::string_view value, errors& wrong) {
  const std::size_t at = find_index(value, no_yes, "value", wrong);
  if (at != no_yes.size()) options.*Which = at == 1;
}

template <bool options::*Which>
std::string format_flag(const options& options) {
  return std::string(no_yes[options.*Which ? 1 : 0]);
}

}  // namespace

void put_outputs(options& options, const std::vector<output>& outputs, std::vector<error>& wrong) {
  std::vector<output> made;
  for (const output& each : outputs) {
    if (!is_file_name(each, wrong)) continue;
    const auto same = [&](const output& other) { return other.form == each.form; };
    const auto in_one_file = [&](const output& other) {
      return other.file == each.file && each.file.substr(0, 5) != "/dev/";
    };
    if (std::any_of(made.begin(), made.end(), same))
      wrong.emplace_back(fmt::format("a second output of the form {}: '{}'", form_name(each.form), each.file),
                         each.file, 0, "one of each form");
    else if (const auto other = std::find_if(made.begin(), made.end(), in_one_file); other != made.end())
      wrong.emplace_back(fmt::format("two outputs in one file: '{}'", each.file), each.file, 0,
                         fmt::format("the {} is in it already; choose another name", form_name(other->form)));
    else made.push_back(each);
  }
  options.outputs = std::move(made);
}

const std::vector<option_entry>& option_table() {
  constexpr bool list = true, commas = true, no = false;
  static const words& any_value = never_destroyed<words>({});
  static const auto& all = never_destroyed<std::vector<option_entry>>({
      {"engine", "auto|ebpf|inline|off", list_choices(engines),
       "How to observe: in the kernel, by the program's own recorder, or auto: in the kernel where that is permitted",
       "ebpf: CAP_BPF and CAP_PERFMON", "", no, no, set_engine, format_engine, check_engine},
      {"report", "table|json|csv|markdown|none", list_choices(reports),
       "The form of the report on standard error at the end", "", "", no, no, set_report, format_report_option,
       check_report},
      {"output", "[FORM:]FILE[;…]", any_value,
       "Write the results to this file, in the named form or that of its suffix; %p: pid, %r: MPI rank, %h: host",
       "stacks: eBPF", "", list, no, set_output, format_outputs, check_outputs},
      {"overhead", "PERCENT%|none", any_value,
       "CPU time that observation may cost a program, by event sampling of its busiest short regions; none: no limit",
       "", "", no, no, set_overhead, format_overhead, check_overhead},
      {"level", "LEVEL|PATTERN=LEVEL[;…]", any_value,
       "The deepest level that is recorded: application, model, layer, library, device or hardware, or 1 to 6; deeper "
       "markers are skipped. With a pattern: the level of the markers with a name that fits it",
       "", "all levels", list, commas, set_level, format_level, check_level},
      {"context", "cpu,faults,samples,counters|none", list_choices(contexts),
       "The kernel's data on threads in regions: waiting, blocked and switches; page faults; samples; the processor's "
       "counters",
       "eBPF", "cpu,faults, where the kernel counts the regions", no, commas, set_context, format_context,
       check_context},
      {"sample_frequency", "1…10000", any_value, "Samples a second on each processor, on average", "samples or stacks",
       "", no, no, set_sample_frequency, format_number<&options::sample_frequency>, check_sample_frequency},
      {"trace_events", "64…16777216", any_value,
       "For the timeline: events that a thread may be ahead of the file, 32 bytes each; further events are counted as "
       "lost",
       "an output of the form trace", "", no, no, set_trace_events, format_number<&options::trace_events>,
       check_trace_events},
      {"timeline_limit", "SIZE|none", any_value,
       "For the timeline: the largest size of its file, such as 256M or 2G; later events are only counted",
       "an output of the form trace", "", no, no, set_timeline_limit, format_timeline_limit, check_timeline_limit},
      {"without", "PATTERN[;…]", any_value,
       "Exclude markers and functions with a name that fits a pattern, such as 'MPI_Test*'", "", "", list, no,
       set_without, format_without, check_without},
      {"keep", "DIRECTORY", any_value,
       "Record into a file in this directory, which remains if the program is killed, for `adaptyst report`",
       "a collector in the program, engine inline, a local file system", "", no, no, set_keep, format_keep, check_keep},
      {"functions", "FILE:PATTERN|SET[;…]", any_value,
       "Make regions of these functions as well, which need no markers: those that a pattern names, or those of an "
       "interface, as far as the program uses it",
       "engine ebpf, and BTF", "", list, commas, set_functions, format_functions, check_functions},
      {"through_exceptions", "no|yes", list_choices(no_yes),
       "Also C++ functions: a program that throws an exception through one of them is terminated", "functions", "", no,
       no, set_flag<&options::through_exceptions>, format_flag<&options::through_exceptions>},
      {"single_stepped", "no|yes", list_choices(no_yes),
       "Also functions with a first instruction that needs a second trap in the kernel, 19 us a call in a virtual "
       "machine; those that wait for others, such as MPI_Wait, are probed anyway",
       "functions", "", no, no, set_flag<&options::single_stepped>, format_flag<&options::single_stepped>},
  });
  return all;
}

std::vector<std::string_view> option_names() {
  words names;
  for (const option_entry& entry : option_table()) names.push_back(entry.name);
  return names;
}

const option_entry* find_option(std::string_view name) {
  for (const option_entry& entry : option_table())
    if (entry.name == name) return &entry;
  return nullptr;
}

std::string find_default(const option_entry& entry) { return entry.get(options{}); }

}  // namespace adaptyst::lib
