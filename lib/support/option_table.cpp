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
#include "units.hpp"

namespace adaptyst::lib {

namespace {

using errors = std::vector<error>;
using words = std::vector<std::string_view>;

template <std::size_t N>
using choices = std::array<std::string_view, N>;

constexpr choices<4> engines = {"auto", "ebpf", "inline", "off"};             // in the order of engine_choice
constexpr choices<5> reports = {"table", "none", "json", "csv", "markdown"};  // of report_choice
constexpr choices<4> memories = {"none", "rss", "heap", "exact-heap"};        // of memory_choice
constexpr choices<3> stack_ways = {"auto", "frame-pointers", "dwarf"};        // of stack_choice
constexpr choices<2> sample_ways = {"auto", "timer"};                         // of sample_choice
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

std::string overheads() { return "none, or from 0.1% to 100%; " + list_units(unit_kind::percentage); }
std::string sizes() { return "none, or from 1M to 1024T, such as 256M or 2G; " + list_units(unit_kind::size); }

words split(std::string_view text, const char* separators) {
  words parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find_first_of(separators));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// 1 for an opening bracket, -1 for a closing one. In operator< the sign is part of the name.
int bracket_at(std::string_view text, std::size_t at) {
  const int made = text[at] == '(' || text[at] == '<' ? 1 : text[at] == ')' || text[at] == '>' ? -1 : 0;
  const std::string_view before = text.substr(0, text.find_last_not_of("<>=-", at) + 1);
  constexpr std::string_view keyword = "operator";
  const bool is_sign = before.size() >= keyword.size() && before.substr(before.size() - keyword.size()) == keyword;
  return is_sign ? 0 : made;
}

// The parts of a list, joined by ',' or ';'. A comma within brackets belongs to the name of a C++ function.
words split_list(std::string_view text) {
  words parts;
  for (const std::string_view several : split(text, ";")) {
    std::size_t begin = 0;
    int brackets = 0;
    for (std::size_t at = 0; at <= several.size(); ++at) {
      if (at < several.size()) brackets = std::max(brackets + bracket_at(several, at), 0);
      const bool is_end = at == several.size();
      const bool is_closed = is_end || brackets == 0 || several.find_first_of(")>", at) == std::string_view::npos;
      if (!is_end && (several[at] != ',' || !is_closed)) continue;
      const std::string_view part = several.substr(begin, at - begin);
      if (const std::size_t first = part.find_first_not_of(' '); first != std::string_view::npos)
        parts.push_back(part.substr(first, part.find_last_not_of(' ') + 1 - first));
      begin = at + 1;
    }
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

void set_memory(options& options, std::string_view value, errors& wrong) {
  const std::size_t at = find_index(value, memories, "memory", wrong);
  if (at != memories.size()) options.memory = static_cast<memory_choice>(at);
}
void check_memory(options& checked, errors& wrong) {
  require_choice(checked, &options::memory, memories, "memory", wrong);
}
std::string format_memory(const options& options) {
  return std::string(memories[static_cast<std::size_t>(options.memory)]);
}

void set_stacks(options& options, std::string_view value, errors& wrong) {
  const std::size_t at = find_index(value, stack_ways, "stacks", wrong);
  if (at != stack_ways.size()) options.stacks = static_cast<stack_choice>(at);
}
void check_stacks(options& checked, errors& wrong) {
  require_choice(checked, &options::stacks, stack_ways, "stacks", wrong);
}
std::string format_stacks(const options& options) {
  return std::string(stack_ways[static_cast<std::size_t>(options.stacks)]);
}

void set_samples(options& options, std::string_view value, errors& wrong) {
  const std::size_t at = find_index(value, sample_ways, "samples", wrong);
  if (at != sample_ways.size()) options.samples = static_cast<sample_choice>(at);
}
void check_samples(options& checked, errors& wrong) {
  require_choice(checked, &options::samples, sample_ways, "samples", wrong);
}
std::string format_samples(const options& options) {
  return std::string(sample_ways[static_cast<std::size_t>(options.samples)]);
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
  for (const std::string_view text : split(value, ";"))
    if (std::optional<output> made = parse_output(text, wrong)) outputs.push_back(*std::move(made));
  if (outputs.empty() && wrong.empty()) parse_output({}, wrong);
  if (!outputs.empty()) put_outputs(options, outputs, wrong);
}

void check_outputs(options& checked, errors& wrong) { put_outputs(checked, checked.outputs, wrong); }

std::string format_outputs(const options& options) {
  std::string all;
  for (const output& output : options.outputs) all += fmt::format("{}{}", all.empty() ? "" : ";", to_text(output));
  return all;
}

bool is_overhead(double share) { return share >= 0.001 && share <= 1; }

void set_overhead(options& options, std::string_view value, errors& wrong) {
  const std::optional<double> share = parse_number(unit_kind::percentage, value);
  if (value == "none") options.overhead = 0;
  else if (share && is_overhead(*share)) options.overhead = *share;
  else refuse(wrong, "overhead", value, overheads());
}

std::string format_overhead(const options& options) {
  return options.overhead == 0 ? "none" : fmt::format("{:.6g}%", options.overhead * 100);
}

void check_overhead(options& checked, errors& wrong) {
  const double share = checked.overhead;
  require(share == 0 || is_overhead(share), checked, &options::overhead, "overhead", format_overhead(checked),
          overheads(), wrong);
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
  is.requested = is.requested || !is.cpu || !is.faults || is.samples || is.counters;
  is.cpu = is.cpu || is.faults || is.samples || is.counters;
}

std::string format_context(const options& options) {
  const context_choice& is = options.context;
  if (!is.requested && is.cpu && is.faults && !is.samples && !is.counters) return {};
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
  require(checked.sample_frequency == 0 || frequencies.has(checked.sample_frequency), checked,
          &options::sample_frequency, "sample_frequency", std::to_string(checked.sample_frequency),
          frequencies.to_hint(), wrong);
}

std::string format_sample_frequency(const options& options) {
  return options.sample_frequency != 0 ? std::to_string(options.sample_frequency) : std::string();
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

void set_functions(options& options, std::string_view value, errors&) {
  const words parts = split_list(value);
  options.functions.assign(parts.begin(), parts.end());
}

void check_functions(options& checked, errors&) {
  for (const std::string& text : std::exchange(checked.functions, {}))
    for (const std::string_view part : split_list(text)) checked.functions.emplace_back(part);
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

std::string describe_limit() {
  return fmt::format("all patterns together take {} bytes at most", max_level_rules_bytes);
}

std::optional<level> read_level(std::string_view word, errors& wrong) {
  const std::optional<level> parsed = parse_level(word);
  if (!parsed) refuse(wrong, "level", word, did_you_mean(word, level_names()));
  return parsed;
}

// PATTERN=LEVEL
void add_level_rule(options& options, std::string_view rule, errors& wrong) {
  const std::size_t equals = rule.rfind('=');
  if (equals == 0 || equals == std::string_view::npos)
    return refuse(wrong, "level", rule, "PATTERN=LEVEL, such as 'MPI_*=library'");
  if (!read_level(rule.substr(equals + 1), wrong)) return;
  options.levels.emplace_back(rule);
  if (fits_rules(options.levels, options.without)) return;
  options.levels.pop_back();
  refuse(wrong, "level", rule, describe_limit());
}

// The deepest level, and the rules that assign levels to markers.
void set_level(options& options, std::string_view value, errors& wrong) {
  for (const std::string_view part : split_list(value)) {
    if (part.find('=') != std::string_view::npos) add_level_rule(options, part, wrong);
    else if (const auto parsed = read_level(part, wrong)) options.level = static_cast<unsigned>(*parsed);
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
  if (fits_rules(options.levels, options.without)) return;
  options.without.pop_back();
  refuse(wrong, "without", pattern, describe_limit());
}

void set_without(options& options, std::string_view value, errors& wrong) {
  for (const std::string_view part : split_list(value)) add_without(options, part, wrong);
}

void check_without(options& checked, errors& wrong) {
  for (const std::string& pattern : std::exchange(checked.without, {})) add_without(checked, pattern, wrong);
}

std::string format_without(const options& options) { return fmt::format("{}", fmt::join(options.without, ";")); }

void set_timeline_limit(options& options, std::string_view value, errors& wrong) {
  const std::optional<double> bytes = parse_number(unit_kind::size, value);
  if (value == "none") options.timeline_limit = 0;
  else if (bytes && *bytes >= static_cast<double>(timeline_bytes.min) &&
           *bytes <= static_cast<double>(timeline_bytes.max))
    options.timeline_limit = static_cast<std::uint64_t>(*bytes);
  else refuse(wrong, "timeline_limit", value, sizes());
}

void check_timeline_limit(options& checked, errors& wrong) {
  require(checked.timeline_limit == 0 || timeline_bytes.has(checked.timeline_limit), checked, &options::timeline_limit,
          "timeline_limit", std::to_string(checked.timeline_limit), sizes(), wrong);
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

void set_verbose(options& options, std::string_view value, errors& wrong) {
  const std::size_t at = find_index(value, no_yes, "value", wrong);
  if (at != no_yes.size()) options.rows.verbose = at == 1;
}
std::string format_verbose(const options& options) { return std::string(no_yes[options.rows.verbose ? 1 : 0]); }

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
       "Engine: ebpf observes in the kernel, inline uses the program's recorder; auto: ebpf if it is permitted, else "
       "inline",
       "ebpf: CAP_BPF and CAP_PERFMON", "", no, no, set_engine, format_engine, check_engine},
      {"report", "table|json|csv|markdown|none", list_choices(reports),
       "Form of the report on standard error at the end", "", "", no, no, set_report, format_report_option,
       check_report},
      {"verbose", "no|yes", list_choices(no_yes),
       "Report also the legend, minimum, median and standard deviation of each region, clocks of devices, and the full "
       "account of events",
       "the form table", "", no, no, set_verbose, format_verbose},
      {"output", "[FORM:]FILE", any_value,
       "Write the result to FILE. FORM, or else the suffix, selects the form. In FILE, %p is the process, %r the MPI "
       "rank, %h the host",
       "stacks: eBPF or perf_event_open", "", list, no, set_output, format_outputs, check_outputs},
      {"overhead", "PERCENT|none", any_value,
       "CPU time that observation may cost the program, in percent. If short regions would cost more, their events are "
       "sampled. none: no limit",
       "", "", no, no, set_overhead, format_overhead, check_overhead},
      {"level", "LEVEL|PATTERN=LEVEL", any_value,
       "Deepest level that is recorded: application, model, layer, library, device or hardware, or 1 to 6. "
       "PATTERN=LEVEL sets the level of the markers with matching names",
       "", "all levels", list, commas, set_level, format_level, check_level},
      {"context", "cpu,faults,samples,counters|none", list_choices(contexts),
       "Figures of the kernel for regions. cpu: waiting, blocked, switches; faults: page faults; samples: stack "
       "samples; counters: of the processor",
       "eBPF; samples: eBPF or perf_event_open", "cpu,faults, if the kernel observes", no, commas, set_context,
       format_context, check_context},
      {"memory", "none|rss|heap|exact-heap", list_choices(memories),
       "Memory. rss: resident memory of processes; heap: also allocations and frees of regions, sampled; exact-heap: each "
       "allocation",
       "heap: the heap adapter", "", no, no, set_memory, format_memory, check_memory},
      {"samples", "auto|timer", list_choices(sample_ways),
       "Without eBPF, stack samples by the kernel, or by timers of threads, at most 250 Hz, without permission",
       "timer: adaptyst run", "", no, no, set_samples, format_samples, check_samples},
      {"sample_frequency", "FREQUENCY", any_value, "Mean stack samples per second on each processor, 1 to 10000",
       "samples or stacks", "997; 99 with dwarf or timers", no, no, set_sample_frequency, format_sample_frequency,
       check_sample_frequency},
      {"stacks", "auto|frame-pointers|dwarf", list_choices(stack_ways),
       "Callers of samples. dwarf: by unwinding tables; auto: frame-pointers with eBPF or a collector in the program, else dwarf",
       "samples or stacks", "", no, no, set_stacks, format_stacks, check_stacks},
      {"trace_events", "N", any_value,
       "For timelines: events that a thread can buffer, 64 to 16777216, 32 bytes each. Further events are lost and "
       "counted",
       "an output of the form trace", "", no, no, set_trace_events, format_number<&options::trace_events>,
       check_trace_events},
      {"timeline_limit", "SIZE|none", any_value,
       "For timelines: limit of the file size, in MiB or with the unit K, M, G or T. Later events are lost and counted",
       "an output of the form trace", "", no, no, set_timeline_limit, format_timeline_limit, check_timeline_limit},
      {"without", "PATTERN", any_value, "Exclude markers and functions with matching names, such as 'MPI_Test*'", "",
       "", list, commas, set_without, format_without, check_without},
      {"keep", "DIRECTORY", any_value,
       "Record into a file in this directory, which remains if the program is killed. `adaptyst report` reads the file",
       "a collector in the program, engine inline, a local file system", "", no, no, set_keep, format_keep, check_keep},
      {"functions", "FILE:PATTERN|SET", any_value,
       "Observe functions without markers: those of FILE with matching names, or those that the program uses of a SET",
       "engine ebpf, and BTF", "", list, commas, set_functions, format_functions, check_functions},
      {"may_crash_on_exception", "no|yes", list_choices(no_yes),
       "Also observe C++ functions. An exception that leaves one of them terminates the program", "functions", "", no,
       no, set_flag<&options::may_crash_on_exception>, format_flag<&options::may_crash_on_exception>},
      {"single_stepped", "no|yes", list_choices(no_yes),
       "Also observe functions with a first instruction that costs a second trap, 19 us per call in a virtual machine. "
       "Functions that wait, such as MPI_Wait, are always observed",
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
