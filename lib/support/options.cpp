#include "options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>

#include "../discover/function_sets.hpp"
#include "error.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::string_view known =
    "engine=auto|ebpf|inline|off, report=table|none, output=FILE.json|.trace.json|.folded|.speedscope.json[;…] (%p "
    "pid, %r rank, %h host), overhead=PERCENT%|none, trace_events=64…16777216, "
    "context=cpu,faults,samples,counters|none, "
    "sample_frequency=1…10000, functions=FILE:PATTERN|SET[;…], through_exceptions=no|yes, single_stepped=no|yes";

[[noreturn]] void refuse(std::string_view what, std::string_view given, std::string_view source) {
  throw error(fmt::format("{} '{}' in {}", what, given, source), 0, fmt::format("known options: {}", known));
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string mpi_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(variable)) return rank;
  return "0";
}

// Whether an option begins here: a key and "=".
bool begins_option(std::string_view text) {
  const std::size_t key = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  return key != 0 && key != std::string_view::npos && text[key] == '=';
}

// Up to the comma before the next option: names of C++ functions have commas of their own, and so has a list.
std::string_view first_pair(std::string_view text) {
  std::size_t comma = text.find(',');
  const std::string_view key = text.substr(0, text.find('='));
  if (key == "functions" || key == "context")
    while (comma != std::string_view::npos && !begins_option(text.substr(comma + 1))) comma = text.find(',', comma + 1);
  return text.substr(0, comma);
}

std::vector<std::string> split(std::string_view text, const char* separators = ";") {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(separators));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

void set_output(options& to, const std::string& file, std::string_view source) {
  const bool is_folded = ends_with(file, ".folded");
  if (!is_folded && !ends_with(file, ".json")) refuse("output must end in .json or .folded:", file, source);
  for (std::size_t at = 0; at < file.size(); ++at)
    if (file[at] == '%' && std::string_view("prh%").find(file[++at]) == std::string_view::npos)
      refuse("unknown placeholder in the output", file, source);
  std::string& target = is_folded                             ? to.folded
                        : ends_with(file, ".speedscope.json") ? to.speedscope
                        : ends_with(file, ".trace.json")      ? to.timeline
                                                              : to.output;
  if (!target.empty()) refuse("a second output of the same sort:", file, source);
  target = file;
}

double share_of_percent(std::string_view value, std::string_view source) {
  if (value == "none") return 0;
  double percent = 0;
  const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), percent);
  if (wrong != std::errc() ||
      std::string_view(end, static_cast<std::size_t>(value.data() + value.size() - end)) != "%" || !(percent >= 0.1) ||
      !(percent <= 100))
    refuse("overhead must be none, or from 0.1% to 100%, not", value, source);
  return percent / 100;
}

context_choice context_of(std::string_view value, std::string_view source) {
  context_choice made{false, false, false, false, true};
  if (value == "none") return made;
  const std::vector<std::string> words = split(value, ",;");
  if (words.empty()) refuse("context must be a list of cpu, faults, samples, counters, or none, not", value, source);
  for (const std::string& word : words) {
    if (word == "cpu") made.cpu = true;
    else if (word == "faults") made.faults = made.cpu = true;
    else if (word == "samples") made.samples = made.cpu = true;
    else if (word == "counters") made.counters = made.cpu = true;
    else refuse("unknown context", word, source);
  }
  return made;
}

std::uint64_t number_within(std::uint64_t least, std::uint64_t most, std::string_view key, std::string_view value,
                            std::string_view source) {
  std::uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (wrong != std::errc() || end != value.data() + value.size() || number < least || number > most)
    refuse(fmt::format("{} must be a number from {} to {}, not", key, least, most), value, source);
  return number;
}

// Rounded up to a power of two.
std::uint64_t entries_of_ring(std::string_view value, std::string_view source) {
  const std::uint64_t number = number_within(64, std::uint64_t{1} << 24, "trace_events", value, source);
  std::uint64_t made = 64;
  while (made < number) made *= 2;
  return made;
}

}  // namespace

void apply(options& to, std::string_view text, std::string_view source) {
  options result = to;
  while (!text.empty()) {
    const std::string_view pair = first_pair(text);
    text.remove_prefix(pair.size() < text.size() ? pair.size() + 1 : text.size());
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) refuse("no '=' in the option", pair, source);
    const std::string_view key = pair.substr(0, equals);
    const std::string_view value = pair.substr(equals + 1);
    if (key == "engine") {
      if (value == "auto") result.engine = engine_choice::automatic;
      else if (value == "ebpf") result.engine = engine_choice::ebpf;
      else if (value == "inline") result.engine = engine_choice::inlined;
      else if (value == "off") result.engine = engine_choice::off;
      else refuse("unknown engine", value, source);
    } else if (key == "report") {
      if (value == "table") result.report = report_choice::table;
      else if (value == "none") result.report = report_choice::none;
      else refuse("unknown report", value, source);
    } else if (key == "output") {
      result.output.clear();
      result.timeline.clear();
      result.folded.clear();
      result.speedscope.clear();
      if (split(value).empty()) refuse("output must end in .json or .folded:", value, source);
      for (const std::string& file : split(value)) set_output(result, file, source);
    } else if (key == "overhead") {
      result.overhead = share_of_percent(value, source);
    } else if (key == "context") {
      result.context = context_of(value, source);
    } else if (key == "sample_frequency") {
      result.sample_frequency = number_within(1, 10000, key, value, source);
    } else if (key == "trace_events") {
      result.trace_events = entries_of_ring(value, source);
    } else if (key == "functions") {
      result.functions = split(value);
      for (const std::string& one : result.functions) requests_of(one);  // complains of what is none
    } else if (key == "through_exceptions" || key == "single_stepped") {
      if (value != "yes" && value != "no") refuse("yes or no, not", value, source);
      (key == "single_stepped" ? result.single_stepped : result.through_exceptions) = value == "yes";
    } else {
      refuse("unknown option", key, source);
    }
  }
  to = result;
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
      case 'r': name += mpi_rank(); break;
      case 'h': name += host_name(); break;
      default: name += '%';
    }
  }
  return name;
}

}  // namespace adaptyst::lib
