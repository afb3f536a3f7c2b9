// Options of a session as flags of the subcommands, and messages about them in terms of these flags.
#include "observing.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "discover/function_request.hpp"
#include "output.hpp"
#include "support/launch_rank.hpp"
#include "support/nearest.hpp"
#include "support/option_table.hpp"
#include "support/output_form.hpp"
#include "trace/timeline_file.hpp"
#ifdef ADAPTYST_HAS_SQLITE
#include "trace/store_writer.hpp"
#endif
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

// "trace_events" → "--trace-events"; the form of the report is --format, as of all results.
std::string format_flag(const lib::option_entry& entry) {
  if (entry.name == "report") return "--format";
  std::string flag = "--" + std::string(entry.name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

// The error in the value and its remedy; empty: the value is valid.
std::string complaint_on(const lib::option_entry& entry, const std::string& value) {
  adaptyst::options scratch;
  std::vector<error> wrong;
  entry.set(scratch, value, wrong);
  return wrong.empty() ? "" : fmt::format("{}\n{}", wrong.front().summary(), wrong.front().hint());
}

std::string complaint_on_functions(const std::string& value) {
  adaptyst::options scratch;
  std::vector<error> wrong;
  lib::find_option("functions")->set(scratch, value, wrong);
  try {
    for (const std::string& text : scratch.functions) lib::parse_requests(text);
  } catch (const error& refused) {
    return fmt::format("{}\n{}", refused.summary(), refused.hint());
  }
  return {};
}

// A short list of words replaces the name of the type, where help and completion read the words.
template <class Complaint>
CLI::Validator checked(Complaint&& complaint, const std::vector<std::string_view>& words) {
  CLI::Validator made(std::forward<Complaint>(complaint), "");
  if (!words.empty()) made.description(fmt::format("{{{}}}", fmt::join(words, ",")));
  return made;
}

void add_one(CLI::App& app, observing_options& options, const lib::option_entry& entry) {
  const std::string meaning(entry.meaning);
  const bool is_flag = !entry.words.empty() && entry.words.front() == "no";
  if (is_flag) {
    app.add_flag_callback(
        entry.name == "verbose" ? "-v,--verbose" : format_flag(entry),
        [&options, &entry] {
          std::vector<error> none;
          entry.set(options.options, "yes", none);
        },
        meaning);
    return;
  }
  // No "off": without observation, the subcommand has no purpose.
  std::vector<std::string_view> words = entry.words;
  words.erase(std::remove(words.begin(), words.end(), "off"), words.end());
  const CLI::Validator valid = checked([&entry](std::string& value) { return complaint_on(entry, value); },
                                       entry.has_commas ? std::vector<std::string_view>{} : words);
  const std::string flag = entry.name == "output" ? "-o,--output" : format_flag(entry);
  CLI::Option* made = nullptr;
  if (entry.is_list) {
    made = app.add_option(flag, options.lists[std::string(entry.name)],
                          meaning + (entry.has_commas ? "; several: with commas, or the option several times"
                                                      : "; may be given several times"));
    made->allow_extra_args(false);  // a process number may follow it
  } else {
    made = app.add_option_function<std::string>(
        flag,
        [&options, &entry](const std::string& value) {
          std::vector<error> none;
          entry.set(options.options, value, none);
        },
        meaning);
    const std::string value = entry.get(options.options);
    made->default_str(value.empty() ? std::string(entry.otherwise) : value);
  }
  made->type_name(entry.has_commas || words.empty() ? std::string(entry.values) : "");
  if (entry.name != "functions") {
    made->check(valid);
    return;
  }
  const std::vector<std::string_view> sets = lib::function_set_names();
  made->check(checked(complaint_on_functions, sets));
  made->description(fmt::format("{}. The sets are {}", made->get_description(), fmt::join(sets, ", ")));
}

}  // namespace

adaptyst::options without_timers(adaptyst::options chosen) {
  if (chosen.samples != sample_choice::timer) return chosen;
  complain(
      "--samples timer: the timer adapter must be loaded when a program starts; the kernel must sample\n"
      "hint: start the program by `adaptyst run --samples timer -- PROGRAM`");
  chosen.samples = sample_choice::automatic;
  chosen.context.samples = true;
  return chosen;
}

std::unique_ptr<lib::trace_writer> open_timeline(const std::string& file, std::uint64_t origin_ns,
                                                 lib::name_speller spelled) {
#ifdef ADAPTYST_HAS_SQLITE
  if (lib::choose_timeline(file) == lib::timeline_kind::store) {
    using lib::store_writer;
    auto made = std::make_unique<store_writer>(file, origin_ns, store_writer::appears::at_once, std::move(spelled));
    made->set_meta("host", lib::expand("%h"));
    if (const std::string rank = lib::launch_rank(); !rank.empty()) made->set_meta("rank", rank);
    return made;
  }
#endif
  return lib::open_timeline_file(file, origin_ns, std::move(spelled));
}

adaptyst::options observing_options::chosen_options() const {
  adaptyst::options all = options;
  std::vector<error> wrong;
  const auto values = [&](const char* name) {
    const auto found = lists.find(name);
    return found != lists.end() ? found->second : std::vector<std::string>{};
  };
  std::vector<output> outputs;
  for (const std::string& several : values("output")) {
    adaptyst::options part;
    lib::find_option("output")->set(part, several, wrong);
    outputs.insert(outputs.end(), part.outputs.begin(), part.outputs.end());
  }
  lib::put_outputs(all, outputs, wrong);
  for (const char* const each : {"level", "without"})
    for (const std::string& value : values(each)) lib::find_option(each)->set(all, value, wrong);
  for (const std::string& value : values("functions")) {
    adaptyst::options part;
    lib::find_option("functions")->set(part, value, wrong);
    all.functions.insert(all.functions.end(), part.functions.begin(), part.functions.end());
  }
  if (!wrong.empty()) throw error(wrong.front());
  if (view) {
    all.rows = view->chosen_options();
    all.report = view->form();
  }
  return all;
}

void add_observing(CLI::App& app, observing_options& options, const char* interval_meaning) {
  // `keep` is for collectors in the program. A view has the form of the report, and --verbose for it.
  for (const lib::option_entry& entry : lib::option_table())
    if (entry.name != "keep" && !(options.view && (entry.name == "report" || entry.name == "verbose")))
      add_one(app, options, entry);
  app.add_option("--interval", options.seconds, interval_meaning)
      ->default_str("1s")
      ->transform(duration(0.01, 3600))
      ->type_name("DURATION");
  if (options.view) add_view(app, *options.view, "on standard error at the end");
}

void add_duration(CLI::App& app, double& seconds) {
  app.add_option("--duration", seconds, "End after this time, in seconds or with a unit: 90, 90s, 500ms, 2min, 1h")
      ->type_name("DURATION")
      ->transform(duration(1e-3));
}

void report_error(const error& what) { complain(what.what()); }

error in_flags(const error& what) {
  std::string hint = what.hint();
  for (const lib::option_entry& entry : lib::option_table()) {
    const std::string name = std::string(entry.name) + "=";
    const bool is_flag = !entry.words.empty() && entry.words.front() == "no";
    std::size_t at = hint.find(name);
    // The hint for flags, not the hint for $ADAPTYST ("ADAPTYST=engine=inline").
    if (at == std::string::npos || (at != 0 && hint[at - 1] != ' ')) continue;
    const std::size_t value = at + name.size();
    if (is_flag && hint.compare(value, 3, "yes") == 0) hint.replace(at, name.size() + 3, format_flag(entry));
    else hint.replace(at, name.size(), format_flag(entry) + " ");
  }
  return {what.summary(), what.subject(), 0, hint};
}

void probe_functions(observer& with, std::int64_t process, const listener& report) {
  const std::vector<error> refused = with.probe_functions(process);
  constexpr std::size_t max_functions = 10;
  for (std::size_t at = 0; at != std::min(refused.size(), max_functions); ++at)
    report(in_flags({"not probed: " + refused[at].summary(), refused[at].subject(), 0, refused[at].hint()}));
  if (refused.size() > max_functions)
    report({fmt::format("not probed: {} others", refused.size() - max_functions), 0, ""});
}

void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace adaptyst::tools
