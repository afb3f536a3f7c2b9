// Every wait has a limit: if the ranks of this machine find no common observer, each rank is observed separately.
#include "node_meeting.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "discover/running_processes.hpp"
#include "output.hpp"
#include "support/launch_rank.hpp"

namespace adaptyst::tools {

namespace {

constexpr std::chrono::seconds max_start{30}, max_report{60};
// An observer listens as soon as it has taken the name, and accepts as soon as its probes are loaded.
constexpr std::chrono::seconds max_deaf{3}, max_full{10};

struct membership {
  lib::descriptor connection;
  std::string socket, sample_file;  // of the observer
};

void alone(const std::string& why) {
  complain(
      fmt::format("cannot observe the ranks of this machine together: {}\nhint: this one is observed by itself", why));
}

// Finds the observer of this machine's ranks. The first rank that takes the name starts the observer.
std::optional<membership> join(const lib::launched_job& job, const observing_options& options) {
  const std::string name = meeting_name(job, options);
  const auto until = std::chrono::steady_clock::now() + max_start;
  auto deaf_since = std::chrono::steady_clock::now(), full_since = deaf_since;
  int lost = 0;
  while (std::chrono::steady_clock::now() < until) {
    meeting_attempt there = connect_to(name);
    const auto now = std::chrono::steady_clock::now();
    if (there.number != ECONNREFUSED) deaf_since = now;
    if (there.number != EAGAIN) full_since = now;
    if (now - deaf_since > max_deaf || now - full_since > max_full) {
      alone("another process has taken the name of their socket, and does not answer");
      return std::nullopt;
    }
    if (there.made) {
      if (find_peer(there.made) == 0) {
        alone("another user has taken the place where they meet");
        return std::nullopt;
      }
      bool ended = false;
      const std::optional<std::string> received = receive_message(there.made, max_start, ended);
      if (received && received->front() == node_message::refused) end_with(bad_input);
      if (received && received->front() == node_message::welcome) {
        const std::size_t end = std::min(received->find('\0'), received->size());
        return membership{std::move(there.made), received->substr(1, end - 1),
                          received->substr(std::min(end + 1, received->size()))};
      }
      // The observer's last program may have ended in the meantime; then the name is free again.
      if (!ended || ++lost == 3) {
        alone("their observer does not answer");
        return std::nullopt;
      }
    } else if (there.number == ECONNREFUSED) {
      meeting_attempt own = listen_at(name);
      if (own.made && !start_node_observer(std::move(own.made), options, job)) own.number = errno;
      if (own.number != 0 && own.number != EADDRINUSE) {
        alone(std::strerror(own.number));
        return std::nullopt;
      }
    } else if (there.number != EAGAIN && there.number != EINTR) {
      alone(std::strerror(there.number));
      return std::nullopt;
    }
    const timespec a_while{0, 2'000'000};
    nanosleep(&a_while, nullptr);
  }
  alone("they do not find each other");
  return std::nullopt;
}

// Whether the observer knows the program; false: the observer has ended.
bool is_expected(const lib::descriptor& by, pid_t program, const std::vector<std::string>& command) {
  constexpr std::size_t max_bytes = 65536;
  std::string message = std::to_string(program);
  for (const std::string& word : command)
    if (message.size() + word.size() < max_bytes) message += '\0' + word;
  bool ended = false;
  if (!send_message(by, node_message::expect, message)) return false;
  const std::optional<std::string> received = receive_message(by, max_start, ended);
  if (received && received->front() == node_message::refused) end_with(bad_input);
  return received && received->front() == node_message::begin;
}

int wait_for(gated_program& program, lib::descriptor& observer) {
  for (;;) {
    pollfd events[] = {{observer.get(), POLLIN, 0}, {program.signals(), POLLIN, 0}};
    ::poll(events, 2, -1);
    program.pass_on_signals();
    if (const std::optional<int> status = program.find_end()) return *status;
    bool ended = false;
    if (observer && events[0].revents != 0) receive_message(observer, std::chrono::milliseconds(0), ended);
    if (!ended) continue;
    observer.reset();
    complain("the observer of this machine's ranks has ended: the program runs on, and there is no report");
  }
}

}  // namespace

std::optional<int> run_in_node(const observing_options& options, const std::vector<std::string>& command,
                               environment gained) {
  const std::optional<lib::launched_job> job = lib::find_job();
  if (!job) {
    if (lib::prints_for_all_ranks()) alone("no launcher has started several");
    return std::nullopt;
  }
  if (job->identity.empty()) {
    if (lib::prints_for_all_ranks())
      alone("/proc hides their launcher, a process of another user (hidepid), and the job has no name");
    return std::nullopt;
  }
  std::optional<membership> node = join(*job, options);
  if (!node) return std::nullopt;
  gained.emplace_back("ADAPTYST_OBSERVER", node->socket);
  if (!node->sample_file.empty()) gained.emplace_back("ADAPTYST_SAMPLES", node->sample_file);
  gated_program program(command, gained);
  if (!is_expected(node->connection, program.id(), command)) {
    alone("their observer has ended");
    return std::nullopt;
  }
  try {
    lib::keep_capabilities({});  // the command has its own copy
  } catch (const std::exception& failed) {
    complain(failed.what());
  }
  program.begin();
  const int status = wait_for(program, node->connection);
  const bool has_started = !program.complain_unless_started();
  if (!node->connection) return status;
  // The last rank waits for the report, because the launcher may end all processes with the last rank. No rank waits
  // for a running rank, which may itself wait until the launcher notices the failure of this rank.
  bool ended = false;
  if (send_message(node->connection, has_started ? node_message::ended : node_message::no_start) &&
      !receive_message(node->connection, max_report, ended) && !ended)
    complain("the report of this machine's ranks takes long: the last rank has not waited for it");
  return status;
}

}  // namespace adaptyst::tools
