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
    complain("which process? Give its number, --name or --all");
    end_with(bad_input);
  }
  // Blocked before any marker is woken, so that all can be put to sleep at the end.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ends, one);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const int signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  allow_many_files();
  observer watching(options.observing.chosen_options(), options.choice.only(), open_timeline);
  chosen_processes chosen(watching, options.choice, tell);
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
  if (chosen.missed()) end_with(bad_input);
}

}  // namespace

void add_attach(CLI::App& app) {
  const auto options = std::make_shared<attach_options>();
  CLI::App* const command = app.add_subcommand("attach", "Observe running programs until ^C, or until they end");
  add_choice(*command, options->choice);
  command->add_flag("--all", options->choice.all,
                    "All processes with markers that may be observed: our own, for root those of all users");
  command->add_option("--duration", options->duration, "Stop after so long")
      ->type_name("SECONDS")
      ->check(positive_number());
  add_observing(*command, options->observing);
  add_view(*command, options->observing);
  command->footer(
      "$ adaptyst attach 4711\n"
      "$ adaptyst attach --duration 10 --output profile.json 4711\n"
      "$ adaptyst attach --all\n"
      "\n"
      "Regions that are open at the beginning are not counted. At the end the program's code is as it was, and its\n"
      "markers sleep again. Children that the program forks are not observed, but with --all and --name: there,\n"
      "processes with markers that come later are observed as well, within the interval, or, if they load what has\n"
      "markers late, within a minute. `adaptyst run` observes children from their first region on.\n"
      "\n"
      "Exit status: 0 all is well, also after ^C; 2 wrong usage, a process that was asked for and could not be "
      "observed, or\n"
      "an output that could not be written.");
  command->callback([options] { attach(*options); });
}

}  // namespace adaptyst::tools
