// `adaptyst run`: starts a command under observation. The command waits at a gate until all is ready, and ends adaptyst
// with its own status.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "adapters.hpp"
#include "commands.hpp"
#include "observing.hpp"
#include "output.hpp"
#include "session/observer.hpp"

namespace adaptyst::tools {

namespace {

struct run_options {
  observing_options observing;
  std::vector<std::string> adapters;
  std::vector<std::string> command;
};

using environment = std::vector<std::pair<std::string, std::string>>;

constexpr int not_executable = 126;
constexpr int not_found = 127;

// What the command inherits unchanged, as this process inherited it.
struct inherited {
  sigset_t blocked;
  struct sigaction at_child_end;
};

// The command begins when something is written to `gate`. What comes out of `refusal` is why it could not: an errno.
pid_t start(const std::vector<std::string>& command, const environment& gained, const inherited& as, int (&gate)[2],
            int (&refusal)[2]) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(refusal, O_CLOEXEC) != 0) return -1;
  const pid_t child = fork();
  if (child != 0) return child;
  char opened = 0;
  close(gate[1]);
  if (read(gate[0], &opened, 1) != 1) _exit(not_executable);  // the observer has ended, and has said why
  sigaction(SIGCHLD, &as.at_child_end, nullptr);
  sigprocmask(SIG_SETMASK, &as.blocked, nullptr);
  for (const auto& [name, value] : gained) setenv(name.c_str(), value.c_str(), 1);
  execvp(arguments[0], arguments.data());
  const int number = errno;
  if (write(refusal[1], &number, sizeof number) != sizeof number) _exit(not_executable);
  _exit(number == ENOENT ? not_found : not_executable);
}

// 0: the command was started.
int why_not_started(const int (&refusal)[2]) {
  int number = 0;
  close(refusal[1]);
  return read(refusal[0], &number, sizeof number) == sizeof number ? number : 0;
}

// As the command ended: with its status, or by its signal.
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

// The status of the command, when all about it has been told.
int run(const run_options& options) {
  environment gained = environment_of_adapters(options.adapters, options.command);
  observer watching(options.observing.asked());
  gained.emplace_back("ADAPTYST_OBSERVER", watching.socket());
  inherited before{};
  sigset_t ours;
  sigemptyset(&ours);
  for (const int one : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU})
    sigaddset(&ours, one);
  sigprocmask(SIG_BLOCK, &ours, &before.blocked);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;  // ignored, it would take the command's status away
  sigaction(SIGCHLD, &by_default, &before.at_child_end);
  const int signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  int gate[2] = {-1, -1}, refusal[2] = {-1, -1};
  const pid_t child = start(options.command, gained, before, gate, refusal);
  allow_many_files();
  if (signals < 0 || child < 0) {
    complain(fmt::format("cannot start {}: {}", options.command[0], std::strerror(errno)));
    end_with(bad_input);
  }

  try {
    watching.expect(child, options.command);
    probe_functions(watching, child, tell);
  } catch (...) {  // it has not begun
    kill(child, SIGKILL);
    throw;
  }
  watching.drop_capabilities();  // the command has its own copy
  if (write(gate[1], "", 1) != 1) kill(child, SIGKILL);
  close(gate[0]);
  close(gate[1]);

  int status = 0;
  interval keeping(options.observing.keeping_seconds());
  interval looking(0.05);
  for (interval polling(options.observing.polling_seconds());;) {
    pollfd events[] = {{watching.descriptor(), POLLIN, 0}, {signals, POLLIN, 0}};
    ::poll(events, 2, std::min({polling.left_ms(), keeping.left_ms(), looking.left_ms()}));
    watching.handle();
    signalfd_siginfo told;
    while (read(signals, &told, sizeof told) == static_cast<ssize_t>(sizeof told)) {
      // A signal from the terminal reaches the command directly.
      const bool from_terminal = told.ssi_code == SI_KERNEL;
      if (told.ssi_signo != SIGCHLD && !from_terminal) kill(child, static_cast<int>(told.ssi_signo));
    }
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno == ECHILD)) break;
    if (polling.is_over()) watching.poll();
    if (keeping.is_over()) watching.keep_budget();
    if (looking.is_over()) watching.look_at_unmarked();
  }
  if (const int number = why_not_started(refusal); number != 0) {  // there is nothing to report
    complain(fmt::format("cannot start {}: {}", options.command[0], std::strerror(number)));
    return status;
  }
  try {
    watching.stop();
  } catch (const std::exception& failed) {  // how the command ended is more important than our report
    complain(failed.what());
  }
  return status;
}

}  // namespace

void add_run(CLI::App& app) {
  const auto asked = std::make_shared<run_options>();
  CLI::App* const command = app.add_subcommand("run", "Start a program and observe it and its children until it ends");
  add_observing(*command, asked->observing);
  add_view(*command, asked->observing);
  command->add_option("--with", asked->adapters, "Load what tells of this interface, without a change to the program")
      ->check(CLI::IsMember(adapter_names()))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ADAPTER");
  command->add_option("COMMAND", asked->command, "The program and its arguments, after `--`")
      ->required()
      ->type_name("");
  command->positionals_at_end();
  command->prefix_command(false);
  command->footer(
      "$ adaptyst run -- ./solver\n"
      "$ adaptyst run --output profile.json -- mpirun -n 4 ./solver\n"
      "$ adaptyst run --timeline run.trace.json -- ./solver\n"
      "$ adaptyst run --with openmp --overhead 1% -- ./solver input.toml\n"
      "$ adaptyst run --functions mpi,io -- ./solver\n"
      "\n"
      "The program's input, output and signals are its own; `adaptyst` ends as it does, with the same status or by "
      "the\n"
      "same signal. Its environment gains ADAPTYST_OBSERVER, by which markers tell that they are there, "
      "and what\n"
      "--with needs. A collector in the program itself steps back.\n"
      "\n"
      "Exit status: that of the program; of one that a signal ended, 128 and the number of the signal, as shells have "
      "it;\n"
      "127 it was not found, 126 it could not be started; 2 wrong usage, or an output that cannot be written, and then "
      "the\n"
      "program was not started. A report that fails later is told, and does not change the status.");
  command->callback([asked] { end_as(run(*asked)); });
}

}  // namespace adaptyst::tools
