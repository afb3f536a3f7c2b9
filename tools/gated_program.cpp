// Starts a program that waits at a pipe until the observer is ready, passes signals on to it, and reports how it ended.
#include "gated_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "output.hpp"

namespace adaptyst::tools {

namespace {

constexpr int not_executable = 126;

bool make_pipe(lib::descriptor& out, lib::descriptor& in) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  out.reset(ends[0]);
  in.reset(ends[1]);
  return true;
}

}  // namespace

int execute(const std::vector<std::string>& command, const environment& gained) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  for (const auto& [name, value] : gained) setenv(name.c_str(), value.c_str(), 1);
  execvp(arguments[0], arguments.data());
  return errno;
}

int find_status(int number) {
  constexpr int not_found = 127;
  return number == ENOENT ? not_found : not_executable;
}

gated_program::gated_program(const std::vector<std::string>& command, const environment& gained) : name_(command[0]) {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal_number : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU})
    sigaddset(&ours, signal_number);
  sigprocmask(SIG_BLOCK, &ours, &as_.blocked);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;  // if SIGCHLD is ignored, the command's status is lost
  sigaction(SIGCHLD, &by_default, &as_.at_child_end);
  signals_.reset(signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  lib::descriptor entrance, refusal;  // the ends on the program's side
  if (signals_ && make_pipe(entrance, gate_) && make_pipe(refusal_, refusal)) child_ = fork();
  if (child_ < 0) {
    complain(fmt::format("cannot start {}: {}", name_, std::strerror(errno)));
    end_with(bad_input);
  }
  if (child_ != 0) return;
  gate_ = std::move(entrance);
  refusal_ = std::move(refusal);
  become(command, gained);
}

void gated_program::become(const std::vector<std::string>& command, const environment& gained) {
  char opened = 0;
  if (read(gate_.get(), &opened, 1) != 1) _exit(not_executable);  // the observer has ended, and has reported why
  sigaction(SIGCHLD, &as_.at_child_end, nullptr);
  sigprocmask(SIG_SETMASK, &as_.blocked, nullptr);
  const int number = execute(command, gained);
  if (write(refusal_.get(), &number, sizeof number) != sizeof number) _exit(not_executable);
  _exit(find_status(number));
}

gated_program::~gated_program() {
  if (has_begun_) {
    waitpid(child_, nullptr, WNOHANG);
    return;
  }
  gate_.reset();
  waitpid(child_, nullptr, 0);
  sigaction(SIGCHLD, &as_.at_child_end, nullptr);
  sigprocmask(SIG_SETMASK, &as_.blocked, nullptr);
}

void gated_program::begin() {
  has_begun_ = true;
  if (write(gate_.get(), "", 1) != 1) kill(child_, SIGKILL);
  gate_.reset();
}

void gated_program::pass_on_signals() const {
  signalfd_siginfo signal;
  while (read(signals_.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    // The terminal sends its signals to the command directly.
    const bool from_terminal = signal.ssi_code == SI_KERNEL;
    if (signal.ssi_signo != SIGCHLD && !from_terminal) kill(child_, static_cast<int>(signal.ssi_signo));
  }
}

void adopt_orphans() {
  if (geteuid() == 0) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int gated_program::wait() const {
  for (;;) {
    pollfd event{signals_.get(), POLLIN, 0};
    ::poll(&event, 1, -1);
    pass_on_signals();
    if (const std::optional<int> status = find_end()) return *status;
  }
}

std::optional<int> gated_program::find_end() const {
  for (siginfo_t ended{}; waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid > 0; ended = {}) {
    if (ended.si_pid == child_) break;
    waitpid(ended.si_pid, nullptr, WNOHANG);
  }
  siginfo_t end{};
  if (waitid(P_PID, static_cast<id_t>(child_), &end, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == ECHILD ? std::optional(0) : std::nullopt;
  if (end.si_pid != child_) return std::nullopt;
  if (end.si_code == CLD_EXITED) return W_EXITCODE(end.si_status, 0);
  return end.si_status | (end.si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

bool gated_program::complain_unless_started() const {
  int number = 0;
  if (read(refusal_.get(), &number, sizeof number) != sizeof number) return false;
  complain(fmt::format("cannot start {}: {}", name_, std::strerror(number)));
  return true;
}

}  // namespace adaptyst::tools
