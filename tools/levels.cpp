// `adaptyst levels`: runs a command repeatedly, each time down to one level, so that the figures of each level come
// from runs that recorded no deeper level. With --trace, the figures come from traces instead of runs.
//
// The first run records all requested levels, to find the levels of the program. Its figures are not used: this run
// also warms up caches. Then each round has one run for each level. Rounds alternate between up and down, so that a
// machine that slows down affects all levels alike. Each run is `adaptyst run` in a separate process.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "adapters.hpp"
#include "analyse/levels/fields.hpp"
#ifdef ADAPTYST_HAS_SQLITE
#include "analyse/levels/layer_recorder.hpp"
#endif
#include "analyse/levels/levels.hpp"
#include "analyse/roofline.hpp"
#include "commands.hpp"
#ifdef ADAPTYST_HAS_SQLITE
#include "timeline_page.hpp"
#include "trace/trace_profile.hpp"
#endif
#include "gated_program.hpp"
#include "output.hpp"
#include "report/forms.hpp"
#include "stored_ceilings.hpp"
#include "support/levels.hpp"
#include "support/option_table.hpp"
#include "support/output_form.hpp"
#include "support/text.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

struct levels_options {
  std::size_t repeat = 5;    // runs of each level
  std::string trim = "20%";  // a mean omits this share of the lowest totals, and of the highest
  std::vector<std::string> levels, adapters, functions;
  std::string engine = "auto", overhead = "none", format = "table";
  std::vector<std::string> outputs, traces;
  ceilings_choice ceilings;
  bool show_output = false, stack = false, is_verbose = false;
  std::vector<std::string> command;
};

// A folder that is removed together with its files.
class scratch_folder {
 public:
  scratch_folder() {
    const char* const place = std::getenv("TMPDIR");
    path_ = fmt::format("{}/adaptyst-levels-XXXXXX", place != nullptr && *place != '\0' ? place : "/tmp");
    if (mkdtemp(path_.data()) == nullptr)
      throw lib::error(fmt::format("cannot make a folder for the profiles: {}", path_), path_, errno,
                       "name another place in TMPDIR");
  }
  ~scratch_folder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Sets the level and the rules in options, from their texts on the command line.
options parse_levels(const std::vector<std::string>& all) {
  options made;
  std::vector<error> wrong;
  for (const std::string& text : all) lib::find_option("level")->set(made, text, wrong);
  if (!wrong.empty()) throw error(wrong.front());
  return made;
}

void redirect(const char* file, int how, int to) {
  const int opened = open(file, how | O_CLOEXEC);
  if (opened >= 0) dup2(opened, to);
}

std::vector<std::string> words_of_run(const levels_options& options, const std::vector<std::string>& rules,
                                      lib::level deepest, const std::string& file) {
  std::vector<std::string> words = {
      "/proc/self/exe", "run",          "--format",   "none",
      "--engine",       options.engine, "--overhead", options.overhead,
      "--output",       "json:" + file, "--level",    std::string(lib::level_name(deepest))};
  for (const std::string& rule : rules) words.insert(words.end(), {"--level", rule});
  // Adapters cost time, and add levels: only those that were named.
  if (options.adapters.empty()) words.insert(words.end(), {"--with", no_adapters});
  for (const std::string& adapter : options.adapters) words.insert(words.end(), {"--with", adapter});
  for (const std::string& text : options.functions) words.insert(words.end(), {"--functions", text});
  words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return words;
}

profile run_once(const levels_options& options, const std::vector<std::string>& rules, lib::level deepest,
                 const std::string& file) {
  const std::vector<std::string> words = words_of_run(options, rules, deepest, file);
  std::filesystem::remove(file);
  const pid_t child = fork();
  if (child < 0) throw lib::error("cannot start a run", errno, "allow more processes (ulimit -u)");
  if (child == 0) {
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    if (options.show_output) dup2(STDERR_FILENO, STDOUT_FILENO);
    else redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
    _exit(find_status(execute(words, {})));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw lib::error("cannot wait for a run", errno, "");
  const std::string name(lib::level_name(deepest));
  if (WIFSIGNALED(status))
    throw lib::error(
        fmt::format("{} was ended by signal {} in a run down to level {}", options.command[0], WTERMSIG(status), name),
        options.command[0], 0, "figures of runs that end early would not be comparable");
  if (WEXITSTATUS(status) != 0)
    throw lib::error(
        fmt::format("{} ended with status {} in a run down to level {}", options.command[0], WEXITSTATUS(status), name),
        options.command[0], 0, "figures of runs that fail would not be comparable");
  return read_profile(file);
}

lib::levels_result measure(const levels_options& options, lib::levels_settings& how) {
  const adaptyst::options requested = parse_levels(options.levels);
  const auto deepest =
      static_cast<lib::level>(requested.level != 0 ? requested.level : unsigned{ADAPTYST_LEVEL_HARDWARE});
  const detail::level_settings rules = lib::make_level_settings(0, requested.levels);
  const scratch_folder folder;
  const std::string file = folder.file("profile.json");
  const profile first = run_once(options, requested.levels, deepest, file);
  const std::vector<lib::level> levels = lib::list_levels(first, rules);
  if (levels.empty())
    throw lib::error(fmt::format("{} has run no marker down to level {}", options.command[0], lib::level_name(deepest)),
                     options.command[0], 0,
                     "adaptyst sites lists the markers of a program; --with and --functions need none");
  const std::optional<machine_ceilings> ceilings = find_stored_ceilings(lib::find_host(first), options.ceilings);
  how.engine = first.engine;
  std::vector<lib::levelled_run> runs;
  for (std::size_t round = 0; round != options.repeat; ++round)
    for (std::size_t at = 0; at != levels.size(); ++at) {
      const lib::level which = levels[round % 2 == 0 ? at : levels.size() - 1 - at];
      runs.push_back({which, run_once(options, requested.levels, which, file)});
    }
  return lib::compute_levels(runs, rules, parse_fraction(options.trim), ceilings);
}

struct measured_levels {
  lib::levels_result levels;
  std::optional<lib::stack_result> stack;
};

measured_levels read_traces(const levels_options& options) {
#ifdef ADAPTYST_HAS_SQLITE
  const adaptyst::options requested = parse_levels(options.levels);
  const auto deepest =
      static_cast<lib::level>(requested.level != 0 ? requested.level : unsigned{ADAPTYST_LEVEL_HARDWARE});
  const detail::level_settings rules = lib::make_level_settings(0, requested.levels);
  const lib::trace_set traces(options.traces);
  lib::trace_profile sums;
  lib::layer_recorder times(sums, rules, deepest);
  lib::bad_rows bad;
  traces.read(options.stack ? static_cast<lib::trace_writer&>(times) : sums, bad);
  complain_about(traces, bad);
  const profile run = sums.take();
  if (run.regions.empty())
    throw lib::error(fmt::format("{} has no regions and operations", options.traces[0]), options.traces[0], 0,
                     "give a trace of a program that ran markers, calls or kernels");
  measured_levels all;
  lib::levels_result& made = all.levels =
      lib::compute_levels(run, deepest, rules, find_stored_ceilings(lib::find_host(run), options.ceilings));
  const auto has_flops = [](const lib::levelled_region& region) {
    return region.flops.has_value() && *region.flops > 0;
  };
  if (options.stack && std::none_of(made.regions.begin(), made.regions.end(), has_flops))
    made.remarks.emplace_back("flops are unknown: traces have no counts of operations");
  for (std::string& remark : sums.remarks()) made.remarks.push_back(std::move(remark));
  if (options.stack) {
    all.stack = lib::analyse_stack(made);
    lib::add_passes(times.take(), *all.stack, made.remarks);
    for (std::string& remark : times.remarks()) made.remarks.push_back(std::move(remark));
  }
  if (traces.is_simulated()) made.remarks.insert(made.remarks.begin(), simulated_remark);
  return all;
#else
  throw lib::error(fmt::format("cannot read {}: this build has no readers of traces", options.traces[0]),
                   options.traces[0], 0, "build adaptyst where SQLite and RapidJSON are (docs/installing.md)");
#endif
}

measured_levels run_program(const levels_options& options, lib::levels_settings& how) {
  measured_levels all{measure(options, how), {}};
  if (!options.stack) return all;
  all.stack = lib::analyse_stack(all.levels);
  if (!all.stack->layers.empty())
    all.levels.remarks.emplace_back(
        "the order of layers is not recorded: these runs have sums, not times of calls. adaptyst run -o FILE.sqlite "
        "writes a trace, and levels --stack --trace FILE.sqlite reads the order");
  return all;
}

void find_levels(const levels_options& options) {
  if (options.command.empty() == options.traces.empty())
    throw error(
        options.command.empty() ? "levels needs a program, or a trace" : "levels cannot run a program and read a trace",
        "", 0, "name the program after --, or a trace by --trace FILE");
  const auto is_html = [](const std::string& file) {
    std::vector<error> wrong;
    const std::optional<output> made = lib::parse_output(file, wrong);
    return made && made->form == output_form::html;
  };
  if (!options.stack && std::any_of(options.outputs.begin(), options.outputs.end(), is_html))
    throw error("an HTML report of levels needs the analyses of the stack", "", 0, "add --stack");
  lib::levels_settings how;
  how.command = options.command;
  how.repeat = options.repeat;
  how.overhead = options.overhead;
  how.traces = options.traces;
  how.rules = parse_levels(options.levels).levels;
  const measured_levels all = options.traces.empty() ? run_program(options, how) : read_traces(options);
  const lib::levels_report report{all.levels, how, all.stack};
  give({[&] { return lib::to_json(report); },
        [&](const lib::screen& on) { return lib::to_table(report, on, options.is_verbose); },
        [&] { return lib::to_rows(all.levels); }, [&] { return lib::to_html(report); }},
       options.outputs, options.format, "the levels");
}

std::string check_option(const char* name, const std::string& value) {
  adaptyst::options scratch;
  std::vector<error> wrong;
  lib::find_option(name)->set(scratch, value, wrong);
  return wrong.empty() ? "" : fmt::format("{}\n{}", wrong.front().summary(), wrong.front().hint());
}

}  // namespace

void add_levels(CLI::App& app) {
  const auto requested = std::make_shared<levels_options>();
  CLI::App* const command =
      app.add_subcommand("levels", "Measure a program level by level, from application to hardware");
  command->group(heading::analyse);
  command->add_option("--repeat", requested->repeat, "Runs for each level")
      ->type_name("N")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--trim", requested->trim,
                   "Share of the runs that means omit: those with the lowest totals, and as many with the highest")
      ->type_name("PERCENT")
      ->transform(percentage(0, 45))
      ->capture_default_str();
  command
      ->add_option(
          "--level", requested->levels,
          "Deepest level to measure. PATTERN=LEVEL sets the level of the markers with matching names; several: "
          "with commas, or the option several times")
      ->type_name("LEVEL|PATTERN=LEVEL")
      ->allow_extra_args(false)
      ->check(CLI::Validator([](std::string& value) { return check_option("level", value); }, ""));
  command->add_option("--engine", requested->engine, "The same as of `adaptyst run`")
      ->check(one_of({"auto", "ebpf", "inline"}))
      ->capture_default_str();
  command
      ->add_option("--overhead", requested->overhead,
                   "The same as of `adaptyst run`; with none, no figure is an estimate")
      ->type_name("PERCENT|none")
      ->check(CLI::Validator([](std::string& value) { return check_option("overhead", value); }, ""))
      ->capture_default_str();
  command
      ->add_option("--with", requested->adapters,
                   "Load the adapters of these interfaces, as `adaptyst run --with` does; several: with commas")
      ->check(one_of(words_of_with()))
      ->default_str(no_adapters)
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--functions", requested->functions, "Observe functions without markers, as `adaptyst run` does")
      ->allow_extra_args(false)
      ->type_name("FILE:PATTERN|SET");
  command->add_flag("--stack", requested->stack,
                    "Also analyse a model by batch, layer, type of layer and kernel: times, bytes and flops "
                    "(docs/levels.md)");
  command->add_flag("--show-output", requested->show_output,
                    "Show the output of the program on standard error; if not given, it is discarded");
  add_output(*command, requested->outputs, {output_form::json, output_form::html, output_form::table, output_form::csv},
             "html: with --stack");
  add_ceilings(*command, requested->ceilings);
  add_format(*command, requested->format, "the result on standard output");
  add_verbose(*command, requested->is_verbose, "all rows of --stack, and the legend");
  command->add_option("COMMAND", requested->command, "Program and its arguments, after `--`")->type_name("");
  CLI::Option* const trace =
      command
          ->add_option("--trace", requested->traces,
                       "Read a trace instead of running a program; for several processes of one run, repeat the option")
          ->type_name("FILE")
          ->allow_extra_args(false);
  for (const char* const of_runs : {"--repeat", "--trim", "--engine", "--overhead", "--with", "--functions"})
    trace->excludes(command->get_option(of_runs));
  command->positionals_at_end();
  command->prefix_command(false);
  command->footer(
      "$ adaptyst levels --level step=model,'rows*=layer' -- ./solver input.txt\n"
      "$ adaptyst levels --level library -o levels.json -- mpirun -n 2 ./solver\n"
      "$ adaptyst levels --with torch --stack -- ./resnet_inference\n"
      "$ adaptyst levels --stack --trace pytorch.json.gz\n"
      "\n"
      "The figures of a level come from runs that record this level and those above. They do not contain the cost of "
      "deeper levels. A first run is not counted. The program reads /dev/null.\n"
      "\n"
      "Exit status: 0 success; 2 wrong usage, a run failed, there are no markers, or a file could not be written.");
  command->callback([requested] { find_levels(*requested); });
}

}  // namespace adaptyst::tools
