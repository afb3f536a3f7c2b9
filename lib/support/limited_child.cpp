// Starts the child, limits its resources, and waits for its answers.
#include "limited_child.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "cpu_time.hpp"
#include "error.hpp"
#include "reading_process.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000, ns_per_second = 1'000 * ns_per_ms;
constexpr std::uint64_t time_for_lost_ns =
    10 * ns_per_second;  // in requests without an answer; then they have less time
constexpr std::uint64_t less_time = 20;
constexpr unsigned longest_pause_s = 64;

// All memory of this process; 0: unknown.
rlim_t read_address_space() noexcept {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  unsigned long pages = 0;
  if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return rlim_t{pages} * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void limit_resources(std::uint64_t bytes) noexcept {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const rlim_t used = read_address_space();
  if (used == 0) return;
  rlimit memory{};
  getrlimit(RLIMIT_AS, &memory);
  memory.rlim_cur = std::min(memory.rlim_cur, used + rlim_t{bytes});
  setrlimit(RLIMIT_AS, &memory);
}

// Init of a container, for instance.
bool adopts_orphans() noexcept {
  int is_reaper = 0;
  return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &is_reaper) != 0 || is_reaper != 0;
}

// The first child would be the init process of that namespace. Before it, the second file cannot be opened.
bool has_other_namespace_for_children() noexcept {
  struct stat own = {}, of_children = {};
  return stat("/proc/thread-self/ns/pid", &own) != 0 ||
         stat("/proc/thread-self/ns/pid_for_children", &of_children) != 0 || own.st_ino != of_children.st_ino;
}

}  // namespace

bool limited_child::ensure() {
  if (is_running()) return true;
  if (limits_.is_orphan && maker_ != -1) {
    report_missing(0);
    return false;
  }
  const std::uint64_t now_ns = detail::monotonic_ns();
  if (now_ns < next_start_ns_) {
    report_missing(0);
    return false;
  }
  left_.reserve(left_.size() + 1);  // for end(), which does not throw
  start();
  if (is_running() || limits_.is_orphan) return is_running();
  const int number = errno;
  next_start_ns_ = now_ns + ns_per_second;
  report_missing(number);
  return false;
}

void limited_child::start() noexcept {
  maker_ = getpid();
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return;
  socket_.reset(pair[0]);
  const descriptor theirs(pair[1]);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // they stay blocked in the child: handlers belong to the observer
  child_ = fork_child(theirs.get());
  const int number = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  started_ns_ = detail::monotonic_ns();
  if (child_ > 0) ++started_;
  else socket_.reset();
  errno = number;
}

// Returns the number of the process; -1 with errno: no process could be forked.
pid_t limited_child::fork_child(int socket) noexcept {
  const pid_t parent = getpid();
  if (limits_.is_orphan && (adopts_orphans() || has_other_namespace_for_children())) {
    errno = ENOTSUP;
    return -1;
  }
  const pid_t middle = fork();
  if (!limits_.is_orphan) {
    if (middle != 0) return middle;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    run(socket);
  }
  if (middle == 0) {
    // Not fork(): the handlers of the program, which have prepared for the first one, would run again.
    const auto orphan = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (orphan == 0) run(socket);
    const int number = errno;
    const pid_t answer = orphan < 0 ? -number : orphan;
    _exit(::send(socket, &answer, sizeof answer, MSG_NOSIGNAL) == sizeof answer ? 0 : 1);
  }
  if (middle < 0) return middle;
  // A handler of the program may already have waited for `middle`.
  while (waitpid(middle, nullptr, 0) < 0 && errno == EINTR) {}
  pid_t orphan = -EAGAIN;
  if (::recv(socket_.get(), &orphan, sizeof orphan, MSG_DONTWAIT) != sizeof orphan) orphan = -EAGAIN;
  if (orphan < 0) {
    errno = -orphan;
    return -1;
  }
  orphan_.reset(static_cast<int>(syscall(SYS_pidfd_open, orphan, 0)));
  return orphan_ ? orphan : -1;  // without the descriptor, it ends with the socket
}

void limited_child::report_missing(int number) {
  if (std::exchange(is_reported_, true)) return;
  if (number != 0) {
    complain(error(fmt::format("{}: cannot fork the child process that reads files of programs", limits_.loss),
                   limits_.name, number, "raise the limit of processes (ulimit -u) or of memory")
                 .what());
    return;
  }
  complain(error(fmt::format("{} at times: files of programs have ended the child process that reads them {} times",
                             limits_.loss, ended_),
                 limits_.name, 0, "run programs with damaged or malicious files separately")
               .what());
}

void limited_child::run(int socket) noexcept {
  // For serve_(): if this process is killed during a request, an orphan must end.
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  enter_reading_child(socket);
  prctl(PR_SET_NAME, limits_.name);
  limit_resources(limits_.bytes);
  constexpr int own_socket = 0;
  try {
    serve_(own_socket);
  } catch (...) {  // there is no memory: no handler of the observer may run here
  }
  _exit(0);
}

bool limited_child::wait(const std::atomic<std::uint32_t>* progress) noexcept {
  if (!is_running()) return false;
  const std::uint64_t part = lost_ns_ < time_for_lost_ns ? 1 : less_time;
  const std::uint64_t first_ns = detail::monotonic_ns();
  std::uint64_t begun_ns = first_ns, begun_cpu_ns = process_cpu_ns(child_);
  constexpr int max_renewals = 64;
  int renewals = 0;
  std::uint32_t reached = progress != nullptr ? progress->load() : 0;
  const auto left_ns = [](std::uint64_t limit, std::uint64_t begun, std::uint64_t now) {
    return now < begun + limit ? begun + limit - std::max(now, begun) : 0;
  };
  for (;;) {
    const std::uint32_t now = progress != nullptr ? progress->load() : reached;
    if (now > reached && ++renewals < max_renewals) {
      reached = now;
      begun_ns = detail::monotonic_ns();
      begun_cpu_ns = process_cpu_ns(child_);
    }
    const std::uint64_t wall_ns = left_ns(limits_.wall_ns / part, begun_ns, detail::monotonic_ns());
    const std::uint64_t cpu_ns = left_ns(limits_.cpu_ns / part, begun_cpu_ns, process_cpu_ns(child_));
    const bool is_over = wall_ns == 0 || cpu_ns == 0;
    pollfd answer{socket_.get(), POLLIN, 0};
    constexpr std::uint64_t longest_pause_ns = 50 * ns_per_ms;  // between two reads of the progress
    const std::uint64_t pause_ns = std::min({wall_ns, cpu_ns, longest_pause_ns});
    // After a stop of the observer, the time may be over and the answer be ready.
    const int ready = ::poll(&answer, 1, is_over ? 0 : static_cast<int>(pause_ns / ns_per_ms + 1));
    if (ready > 0 && (answer.revents & POLLIN) != 0) return true;
    if (is_over || ready > 0 || (ready < 0 && errno != EINTR)) break;
  }
  lost_ns_ += detail::monotonic_ns() - first_ns;
  return false;
}

bool limited_child::wait_for_room() noexcept {
  pollfd there{socket_.get(), POLLOUT, 0};
  return ::poll(&there, 1, static_cast<int>(limits_.wall_ns / ns_per_ms)) > 0 && (there.revents & POLLOUT) != 0;
}

// Children that took long to end.
void limited_child::remove_ended() noexcept {
  left_.erase(
      std::remove_if(left_.begin(), left_.end(), [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; }),
      left_.end());
}

bool limited_child::has_ended() const noexcept {
  if (!limits_.is_orphan) return waitpid(child_, nullptr, WNOHANG) != 0;
  pollfd process{orphan_.get(), POLLIN, 0};
  return ::poll(&process, 1, 0) > 0;
}

void limited_child::end() noexcept {
  if (maker_ != getpid()) {  // the processes are those of the parent
    left_.clear();
    child_ = -1;
  }
  socket_.reset();  // it ends, unless it works on a request
  remove_ended();
  if (!is_running()) return;
  ended_children_ns_ += process_cpu_ns(child_);
  // Another function of the observer may have waited for it; then its number may be another process's.
  constexpr int max_attempts = 50;  // a thread that waits for a file may not end at once
  const timespec a_while{0, ns_per_ms};
  bool is_left = true;
  for (int at = 0; at != max_attempts; ++at) {
    is_left = !has_ended();
    if (!is_left) break;
    if (limits_.is_orphan) syscall(SYS_pidfd_send_signal, orphan_.get(), SIGKILL, nullptr, 0);
    else kill(child_, SIGKILL);
    nanosleep(&a_while, nullptr);
  }
  if (is_left && !limits_.is_orphan) left_.push_back(child_);  // ensure() has reserved its place
  orphan_.reset();
  child_ = -1;
  const std::uint64_t now_ns = detail::monotonic_ns();
  if (now_ns - started_ns_ > longest_pause_s * ns_per_second) ended_ = 0;
  if (++ended_ < limits_.ends_at_once) return;
  const unsigned doubled = std::min(ended_ - limits_.ends_at_once, 6U);
  next_start_ns_ = now_ns + (ns_per_second << doubled);
}

std::uint64_t limited_child::used_ns() const noexcept {
  return ended_children_ns_ + (is_running() ? process_cpu_ns(child_) : 0);
}

}  // namespace adaptyst::lib
