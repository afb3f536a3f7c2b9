#include <adaptyst/observer.hpp>
#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "commands.hpp"
#include "observing.hpp"
#include "output.hpp"

namespace adaptyst::tools {

namespace {

struct attach_options {
  observing_options observing;
  std::vector<std::int64_t> processes;
  std::string name;
  double duration = 0;
};

std::vector<std::int64_t> processes_called(const std::string& name) {
  std::vector<std::int64_t> found;
  DIR* const all = opendir("/proc");
  if (all == nullptr) return found;
  while (const dirent* const entry = readdir(all)) {
    std::ifstream file(fmt::format("/proc/{}/comm", entry->d_name));
    std::string comm;
    if (std::getline(file, comm) && comm == name) found.push_back(std::strtoll(entry->d_name, nullptr, 10));
  }
  closedir(all);
  return found;
}

void attach(attach_options asked) {
  if (!asked.name.empty()) {
    const std::vector<std::int64_t> found = processes_called(asked.name);
    asked.processes.insert(asked.processes.end(), found.begin(), found.end());
    if (found.empty()) {
      complain(fmt::format("no process is called {}", asked.name));
      end_with(bad_input);
    }
  }
  if (asked.processes.empty()) {
    complain("which process? Give its number, or --name");
    end_with(bad_input);
  }
  // Before anything is woken that would have to be put to sleep.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ends, one);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const int signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  observer watching(asked.observing.text(), asked.processes.size() == 1 ? asked.processes.front() : 0);
  std::size_t attached = 0;
  for (const std::int64_t process : asked.processes) {
    try {
      probe_functions(watching, process);
      watching.attach(process);
      ++attached;
    } catch (const std::runtime_error& failed) {
      complain(failed.what());
    }
  }
  if (attached == 0) end_with(bad_input);
  watching.drop_capabilities();

  const interval all(asked.duration > 0 ? asked.duration : 1e9);
  for (interval polling(asked.observing.seconds); watching.running() != 0 && !interval(all).is_over();) {
    pollfd event{signals, POLLIN, 0};
    if (::poll(&event, 1, std::min({polling.left_ms(), all.left_ms(), 100})) > 0) break;
    if (polling.is_over()) watching.poll();
  }
  watching.stop();
  close(signals);
  if (attached != asked.processes.size()) end_with(bad_input);
}

}  // namespace

void add_attach(CLI::App& to) {
  const auto asked = std::make_shared<attach_options>();
  CLI::App* const command = to.add_subcommand("attach", "Observe running programs until ^C, or until they end");
  command->add_option("PID", asked->processes, "Their process numbers")->type_name("");
  command->add_option("--name", asked->name, "All processes with this name, as `ps -o comm` shows it")
      ->type_name("COMM");
  command->add_option("--duration", asked->duration, "Stop after so long")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  add_observing(*command, asked->observing);
  command->footer(
      "Regions that are open at the beginning are not counted. At the end the program's code is as it was, and its\n"
      "markers sleep again. Children that the program forks are not observed; `adaptyst run` observes them too.");
  command->callback([asked] { attach(*asked); });
}

}  // namespace adaptyst::tools
