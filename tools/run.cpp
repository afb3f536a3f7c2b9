// `adaptyst run`: starts a command under observation. The command waits at a gate until the observer is ready. adaptyst
// ends with the status of the command.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "adapters.hpp"
#include "commands.hpp"
#include "gated_program.hpp"
#include "node_meeting.hpp"
#include "observing.hpp"
#include "output.hpp"
#include "session/observer.hpp"
#include "support/launch_rank.hpp"
#include "support/output_form.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

struct run_options {
  observing_options observing;
  std::vector<std::string> adapters;
  std::vector<std::string> command;
  bool for_node = false;
};

// Ends this process with the status or by the signal of the command.
[[noreturn]] void end_as(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const rlimit no_core{0, 0};  // a core dump of this process would overwrite the command's
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}

// Replaces this process by the command; its ranks collect by themselves, with these options.
[[noreturn]] void become(const std::vector<std::string>& command, environment gained, const options& options) {
  if (const std::string text = to_string(options); !text.empty()) gained.emplace_back("ADAPTYST", text);
  const int number = execute(command, gained);
  complain(fmt::format("cannot start {}: {}", command[0], std::strerror(number)));
  _exit(find_status(number));
}

// Called before the program begins: a collector in the program would report the error too late for another name.
void require_no_store(const options& requested) {
  if (const std::string file = requested.find_file(output_form::trace);
      lib::choose_timeline(file) == lib::timeline_kind::store)
    throw error(fmt::format("with --with mpi the ranks write their timelines themselves, and no SQLite: {}", file),
                file, 0, "name a FILE.events, of which `adaptyst convert` makes a store");
}

// The command of a process that SIGTRAP has ended; empty: none.
std::string find_trapped(const profile& all) {
  for (const process_info& process : all.processes)
    if (process.signal == SIGTRAP) return process.command;
  return {};
}

// The variables that load the adapters of `--with`; for its word `auto`, of the adapters that the command needs.
environment find_adapters(run_options& options) {
  std::vector<std::string>& named = options.adapters;
  const auto take = [&](const char* word) {
    const auto end = std::remove(named.begin(), named.end(), word);
    const bool has_word = end != named.end();
    named.erase(end, named.end());
    return has_word;
  };
  if (named.empty()) named.emplace_back(default_adapters);
  if (take(no_adapters) && !named.empty())
    throw error("--with none and another adapter", "none", 0, "name adapters, or only none");
  const bool chooses = take(automatic);
  const memory_choice memory = options.observing.options.memory;
  const bool counts_heap = memory >= memory_choice::heap && check_heap_adapter(options.command);
  if (counts_heap) named.emplace_back(heap_adapter);
  const adaptyst::options& observed_with = options.observing.options;
  if (observed_with.samples == sample_choice::timer && observed_with.engine != engine_choice::ebpf &&
      check_timer_adapter(options.command))
    named.emplace_back(timer_adapter);
  environment gained = adapter_environment(named, options.command);
  if (counts_heap) gained.emplace_back("ADAPTYST_HEAP", memory == memory_choice::exact_heap ? "exact" : "sampled");
  if (!chooses) return gained;
  // Sets of functions have the names of interfaces: their calls need no second region.
  std::vector<std::string> observed = named;
  const std::vector<std::string> functions = options.observing.chosen_options().functions;
  observed.insert(observed.end(), functions.begin(), functions.end());
  options.observing.adapters = choose_adapters(gained, observed, options.command);
  return gained;
}

// Runs and reports the command, and returns its status.
int run(run_options& options) {
  environment gained = find_adapters(options);
  if (options.for_node && collect_in_ranks(options.adapters) && lib::prints_for_all_ranks())
    complain("--node is left out: with --with mpi the ranks collect by themselves, and make one report");
  if (collect_in_ranks(options.adapters)) require_no_store(options.observing.chosen_options());
  if (collect_in_ranks(options.adapters)) become(options.command, gained, options.observing.chosen_options());
  if (options.for_node)
    if (const std::optional<int> status = run_in_node(options.observing, options.command, gained)) return *status;
  adopt_orphans();
  observer watching(options.observing.chosen_options(), 0, open_timeline);
  watching.note_adapters(options.observing.adapters.loaded, options.observing.adapters.skipped);
  gained.emplace_back("ADAPTYST_OBSERVER", watching.socket());
  if (const std::string file = watching.sample_file(); !file.empty()) gained.emplace_back("ADAPTYST_SAMPLES", file);
  gated_program program(options.command, gained);
  allow_many_files();
  watching.expect(program.id(), options.command);
  probe_functions(watching, program.id(), report_error);
  watching.drop_capabilities();  // the command has its own copy
  program.begin();

  std::optional<int> status;
  // A failure of the report must not change the status of the command.
  const auto attempt = [](auto&& step) {
    try {
      step();
    } catch (const std::exception& failed) {
      complain(failed.what());
    }
  };
  attempt([&] {
    watching.run(options.observing.seconds, {program.signals()}, [&]() -> std::optional<int> {
      program.pass_on_signals();
      constexpr int longest_ms = 1000;
      status = program.find_end();
      return status ? std::nullopt : std::optional<int>(longest_ms);
    });
  });
  if (!status) status = program.wait();
  if (program.complain_unless_started()) return *status;  // there is nothing to report
  attempt([&] {
    const profile all = watching.stop();
    const bool has_trapped = WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTRAP;
    const std::string trapped = has_trapped ? options.command[0] : find_trapped(all);
    if (trapped.empty() || (all.engine != "ebpf" && !all.context)) return;
    complain(
        fmt::format("{} was ended by SIGTRAP: a program that copies its code to other memory, for huge pages, copies "
                    "the kernel's probes with it\nobserve such a program with --engine inline{}",
                    trapped, all.engine == "ebpf" ? "" : " and without --context"));
  });
  return *status;
}

}  // namespace

void add_run(CLI::App& app) {
  const auto options = std::make_shared<run_options>();
  CLI::App* const command = app.add_subcommand("run", "Start a program; observe it and its children until it ends");
  command->group(heading::observe);
  options->observing.view.emplace();
  add_observing(*command, options->observing);
  command
      ->add_option(
          "--with", options->adapters,
          "Load the adapters of these interfaces; the program is not changed; several: with commas. auto: those "
          "that the program needs; none: no adapter")
      ->check(one_of(words_of_with()))
      ->default_str(default_adapters)
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--node", options->for_node,
                    "After an MPI launcher: one observer and one report for all ranks on this machine");
  command->add_option("COMMAND", options->command, "Program and its arguments, after `--`")->required()->type_name("");
  command->positionals_at_end();
  command->prefix_command(false);
  command->footer(
      "$ adaptyst run -- ./solver\n"
      "$ adaptyst run -o profile.json -- mpirun -n 4 ./solver\n"
      "$ adaptyst run -o run.trace.json -o run.html -- ./solver\n"
      "$ adaptyst run --overhead 1% -- ./solver input.toml\n"
      "$ adaptyst run --functions mpi,io -- ./solver\n"
      "$ mpirun -n 4 adaptyst run --with mpi -- ./solver\n"
      "$ mpirun -n 64 adaptyst run --node -- ./solver\n"
      "\n"
      "The program keeps its input, output and signals. `adaptyst` ends with the status or the signal of the program. "
      "The environment of the program gets ADAPTYST_OBSERVER, through which its markers find the observer, and the "
      "variables of `--with`. The first lines of the report name the adapters that `auto` loaded, and those that it skipped "
      "with the reason. A collector in the program is disabled.\n"
      "\n"
      "With `--node`, one process `adaptyst-node` observes all ranks of the job on this machine that have the same user, "
      "directory and options. It writes the report when the last rank has ended. In file names, %r is then the host; it "
      "is added if other machines can have ranks.\n"
      "\n"
      "Exit status: that of the program, or 128 + the number of the signal that ended it; 127 the program was not found; "
      "126 it could not be started; 2 wrong usage, or an output cannot be written, and the program was not started. If "
      "the report fails at the end, a message appears on standard error, and the status is that of the program.");
  command->callback([options] { end_as(run(*options)); });
}

}  // namespace adaptyst::tools
