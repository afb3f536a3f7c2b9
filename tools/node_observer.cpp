// The observer is a process next to the ranks. A rank ends with its program, so that the launcher notices a failed rank
// at once. The observer runs until the last rank has ended, and then reports.
#include "node_meeting.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "output.hpp"
#include "support/descriptor.hpp"
#include "support/launch_rank.hpp"
#include "support/output_file.hpp"
#include "support/output_form.hpp"
#include "support/process_stat.hpp"

namespace adaptyst::tools {

namespace {

constexpr int longest_wait_ms = 1000;

using node_clock = std::chrono::steady_clock;

// Replaces the rank in a file name by the machine, for files of all ranks of a machine.
std::string name_for_node(const std::string& pattern, bool is_here_alone) {
  std::string name;
  bool has_host = false, has_process = false;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    name += pattern[at];
    if (pattern[at] != '%' || ++at == pattern.size()) continue;
    name += pattern[at] == 'r' ? 'h' : pattern[at];
    has_host = has_host || name.back() == 'h';
    has_process = has_process || name.back() == 'p';
  }
  if (is_here_alone || has_host || has_process || !lib::is_replaced(name)) return name;
  return lib::with_number(name, "%h");
}

class node_observer {
 public:
  node_observer(lib::descriptor& meeting, const observing_options& options, const lib::launched_job& job)
      : meeting_(meeting),
        options_(options),
        ranks_here_(job.ranks_here),
        watching_(named(options, job), 0, open_timeline) {
    if (!ready_ || !wake_by(meeting_))
      throw error("cannot wait for the ranks of this machine", errno, "allow more open files: ulimit -n");
    watching_.note_adapters(options.adapters.loaded, options.adapters.skipped);
    watching_.drop_capabilities();  // it starts no program
    allow_many_files();
  }

  // Returns when all ranks have ended.
  void observe() {
    watching_.run(options_.seconds, {ready_.get()}, [this]() -> std::optional<int> {
      accept_ranks();
      for (rank& member : ranks_) listen_to(member);
      let_ranks_go();
      return is_over() ? std::nullopt : std::optional<int>(longest_wait_ms);
    });
  }

  void report() {
    meeting_.reset();  // ranks that connect later start another observer
    if (programs_ != 0) watching_.stop();
    std::fflush(stderr);
    for (const rank& member : ranks_)
      if (member.waits) send_message(member.connection, node_message::reported);
  }

 private:
  struct rank {
    lib::descriptor connection;
    pid_t starter;
    bool has_ended = false, waits = false;
  };

  static adaptyst::options named(const observing_options& options, const lib::launched_job& job) {
    adaptyst::options all = options.chosen_options();
    for (output& output : all.outputs) output.file = name_for_node(output.file, job.is_here_alone);
    return all;
  }

  bool wake_by(const lib::descriptor& what) const {
    epoll_event event{EPOLLIN, {}};
    return epoll_ctl(ready_.get(), EPOLL_CTL_ADD, what.get(), &event) == 0;
  }

  // Accepts each process of this user as one rank. Refuses processes of other users, and ranks above the limits.
  void accept_ranks() {
    constexpr int max_at_once = 512;
    constexpr std::size_t max_ranks = 16384;
    for (int at = 0; at != max_at_once; ++at) {
      lib::descriptor connection(accept4(meeting_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!connection) {
        const int number = errno;
        const timespec a_while{0, 10'000'000};  // without a pause, poll() would return at once
        if (number == EMFILE || number == ENFILE) nanosleep(&a_while, nullptr);
        return;
      }
      const pid_t starter = find_peer(connection);
      const bool is_known = std::any_of(ranks_.begin(), ranks_.end(), [&](const rank& running) {
        return running.starter == starter && !running.has_ended;
      });
      if (starter == 0 || is_known || ranks_.size() >= max_ranks || !wake_by(connection) ||
          !send_message(connection, node_message::welcome, watching_.socket() + '\0' + watching_.sample_file()))
        continue;
      ++joined_;
      ranks_.push_back({std::move(connection), starter});
    }
  }

  void listen_to(rank& member) {
    if (member.has_ended) return;
    bool is_closed = false;
    const std::optional<std::string> received =
        receive_message(member.connection, std::chrono::milliseconds(0), is_closed);
    if (!received && !is_closed) return;
    if (received && received->front() == node_message::expect) {
      send_message(member.connection,
                   expect(member, received->substr(1)) ? node_message::begin : node_message::refused);
      return;
    }
    member.has_ended = true;
    epoll_ctl(ready_.get(), EPOLL_CTL_DEL, member.connection.get(), nullptr);
    member.waits = received.has_value();
    if (received && received->front() == node_message::no_start) --programs_;
    quiet_since_ = node_clock::now();
  }

  // False: the program cannot be observed; errors of the observer are reported.
  bool expect(const rank& member, const std::string& message) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= message.size();) {
      const std::size_t end = std::min(message.find('\0', at), message.size());
      words.push_back(message.substr(at, end - at));
      at = end + 1;
    }
    const auto program = static_cast<pid_t>(std::strtol(words.front().c_str(), nullptr, 10));
    const std::optional<lib::process_stat> stat = lib::read_stat(program);
    words.erase(words.begin());
    if (words.empty() || !stat || stat->parent != member.starter) return false;
    try {
      watching_.expect(program, words);
      probe_functions(watching_, program, [this](const error& what) {
        if (reported_.insert(what.what()).second) report_error(what);  // once, not for each rank
      });
      ++programs_;
      return true;
    } catch (const std::exception& failed) {
      complain(failed.what());
      return false;
    }
  }

  bool is_any_running() const {
    return std::any_of(ranks_.begin(), ranks_.end(), [](const rank& member) { return !member.has_ended; });
  }

  // While a rank runs, ended ranks may leave; the last rank stays until the report is written.
  void let_ranks_go() {
    if (is_any_running()) {
      for (rank& member : ranks_)
        if (std::exchange(member.waits, false)) send_message(member.connection, node_message::leave);
    }
    ranks_.erase(std::remove_if(ranks_.begin(), ranks_.end(),
                                [](const rank& member) { return member.has_ended && !member.waits; }),
                 ranks_.end());
  }

  // Ranks begin one after another: the first may have ended before the last has come.
  bool is_over() const {
    if (is_any_running()) return false;
    const std::chrono::seconds patience{joined_ == 0 ? 30 : 2};
    return (ranks_here_ != 0 && joined_ >= ranks_here_) || node_clock::now() - quiet_since_ > patience;
  }

  lib::descriptor& meeting_;
  const lib::descriptor ready_{epoll_create1(EPOLL_CLOEXEC)};  // of the meeting and the ranks
  const observing_options options_;
  const std::uint32_t ranks_here_;
  observer watching_;
  std::vector<rank> ranks_;
  std::uint32_t joined_ = 0;
  std::uint32_t programs_ = 0;  // that were started
  node_clock::time_point quiet_since_ = node_clock::now();
  std::set<std::string> reported_;
};

// Refuses the waiting ranks, and ranks that connect within two seconds.
void refuse_all(const lib::descriptor& meeting, std::uint32_t ranks_here) {
  const auto until = node_clock::now() + std::chrono::seconds(2);
  for (std::uint32_t refused = 0; node_clock::now() < until && (ranks_here == 0 || refused < ranks_here);) {
    const lib::descriptor connection(accept4(meeting.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection) {
      send_message(connection, node_message::refused);
      ++refused;
      continue;
    }
    pollfd event{meeting.get(), POLLIN, 0};
    ::poll(&event, 1, 100);
  }
}

// Separates the observer from the rank's signals, input and connections.
void leave_rank(lib::descriptor& meeting) {
  setsid();
  prctl(PR_SET_NAME, "adaptyst-node");
  for (const int signal_number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE})
    signal(signal_number, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  const lib::descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing) dup2(nothing.get(), STDIN_FILENO);
  const int kept = meeting.get();
  if (kept > 3) syscall(SYS_close_range, 3U, static_cast<unsigned>(kept - 1), 0U);
  syscall(SYS_close_range, static_cast<unsigned>(kept + 1), ~0U, 0U);
  lib::represent_all_ranks();
}

}  // namespace

bool start_node_observer(lib::descriptor meeting, const observing_options& options, const lib::launched_job& job) {
  const pid_t child = fork();
  if (child != 0) return child > 0;
  leave_rank(meeting);
  try {
    node_observer all(meeting, options, job);
    try {
      all.observe();
      all.report();
    } catch (const std::exception& failed) {
      complain(failed.what());
    }
  } catch (const std::exception& failed) {
    complain(failed.what());
    refuse_all(meeting, job.ranks_here);
  }
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace adaptyst::tools
