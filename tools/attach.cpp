// `adaptyst attach`: observes processes that run already.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "choosing_processes.hpp"
#include "commands.hpp"
#include "observing.hpp"
#include "output.hpp"
#include "session/observer.hpp"
#include "support/repeating_timer.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

struct attach_options {
  observing_options observing;
  process_choice choice;
  double duration = 0;
};

void attach(const attach_options& options) {
  if (options.choice.processes.empty() && options.choice.name.empty() && !options.choice.all) {
    complain(
        "attach: no process is given\nhint: give process numbers, --name NAME or --all; `adaptyst help attach` lists the options");
    end_with(bad_input);
  }
  if (options.observing.options.memory >= memory_choice::heap)
    complain(
        "attach --memory heap: the heap adapter must be loaded when a program starts; only resident memory is reported\n"
        "hint: start the program by `adaptyst run --memory heap -- PROGRAM`");
  // Blocked before any marker is enabled, so that all markers become idle at the end.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ends, signal_number);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const int signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  allow_many_files();
  observer watching(without_timers(options.observing.chosen_options()), options.choice.only(), open_timeline);
  chosen_processes chosen(watching, options.choice, report_error);
  chosen.attach_first();
  if (chosen.attached() == 0 && !options.choice.all) end_with(bad_input);
  watching.drop_capabilities();

  lib::repeating_timer all(options.duration > 0 ? options.duration : 1e9), looking(options.observing.seconds);
  watching.run(options.observing.seconds, {signals}, [&]() -> std::optional<int> {
    pollfd event{signals, POLLIN, 0};
    if (::poll(&event, 1, 0) > 0 || all.is_over() || (!options.choice.all && watching.running() == 0)) return {};
    if (looking.is_over()) chosen.attach_new();
    return std::min({all.left_ms(), looking.left_ms(), 100});
  });
  watching.stop();
  close(signals);
  if (chosen.has_refused()) end_with(bad_input);
}

}  // namespace

void add_attach(CLI::App& app) {
  const auto options = std::make_shared<attach_options>();
  CLI::App* const command = app.add_subcommand("attach", "Observe running programs until ^C, or until they end");
  command->group(heading::observe);
  add_choice(*command, options->choice);
  command->add_flag("--all", options->choice.all,
                    "All processes with markers that this user may observe; for root, those of all users");
  add_duration(*command, options->duration);
  options->observing.view.emplace();
  add_observing(*command, options->observing);
  command->footer(
      "$ adaptyst attach 4711\n"
      "$ adaptyst attach --duration 10s -o profile.json 4711\n"
      "$ adaptyst attach --all\n"
      "\n"
      "Regions that are open at the beginning are not counted. At the end, the code of the program is as before, and its "
      "markers are idle. `attach` observes new processes only with `--all` and `--name`: it finds them within the "
      "interval, or within a minute if they load a library with markers later. `adaptyst run` observes all children from "
      "their first region on.\n"
      "\n"
      "Exit status: 0 success, also after ^C; 2 wrong usage, a process could not be observed, or an output could not be "
      "written.");
  command->callback([options] { attach(*options); });
}

}  // namespace adaptyst::tools
