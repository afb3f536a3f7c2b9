// The observer's end of the socket: accepts announcements from its descendants, answers each one, and takes the
// descriptor of a store if the announcement carries one.
#include "channel.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <random>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../support/error.hpp"
#include "../support/process_stat.hpp"

namespace adaptyst::lib {

namespace {

bool is_descendant(pid_t process) {
  constexpr int max_generations = 256;
  for (int at = 0; process > 1 && at != max_generations; ++at) {
    if (process == getpid()) return true;
    const std::optional<process_stat> stat = read_stat(process);
    process = stat ? stat->parent : 0;
  }
  return false;
}

bool is_ours(const ucred& peer) {
  return peer.pid > 0 && (peer.uid == geteuid() || (geteuid() == 0 && is_descendant(peer.pid)));
}

// Takes all descriptors of a message, even if the sender sent more than expected.
std::vector<descriptor> take_descriptors(msghdr& message) {
  std::vector<descriptor> all;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN((at + 1) * sizeof(int)) <= header->cmsg_len; ++at) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + at * sizeof number, sizeof number);
      all.emplace_back(number);
    }
  }
  return all;
}

// Reads an announcement, with its descriptor if it has one. If the sender uses other headers, only the version is
// valid.
bool receive(int peer, adaptyst_announcement& announcement, descriptor& along) {
  iovec body{&announcement, sizeof announcement};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(peer, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return false;
  std::vector<descriptor> all = take_descriptors(message);
  if (all.size() == 1 && (message.msg_flags & MSG_CTRUNC) == 0) along = std::move(all.front());
  if (got < static_cast<ssize_t>(sizeof announcement.abi)) return false;
  return got == static_cast<ssize_t>(sizeof announcement) || announcement.abi != ADAPTYST_ABI_VERSION;
}

// False: the program did not wait for the reply.
bool send_reply(int peer, channel::reply reply) {
  iovec body{&reply.answer, sizeof reply.answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  if (reply.along) {
    const int number = reply.along.get();
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const with = CMSG_FIRSTHDR(&message);
    with->cmsg_level = SOL_SOCKET;
    with->cmsg_type = SCM_RIGHTS;
    with->cmsg_len = CMSG_LEN(sizeof number);
    std::memcpy(CMSG_DATA(with), &number, sizeof number);
  }
  return sendmsg(peer, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

}  // namespace

channel::channel() {
  std::random_device random;
  name_ = fmt::format("adaptyst-{}-{:08x}{:08x}", getpid(), random(), random());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name_.data(), name_.size());  // abstract: it leaves no file
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  listening_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ready_.reset(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{EPOLLIN, {}};
  if (!listening_ || !ready_ || bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      listen(listening_.get(), SOMAXCONN) != 0 || epoll_ctl(ready_.get(), EPOLL_CTL_ADD, listening_.get(), &event) != 0)
    throw error("cannot make a socket for the programs under observation", errno, "allow sockets of AF_UNIX");
}

namespace {

constexpr std::size_t max_waiting = 512;  // further programs wait at the socket

// Replies need descriptors as well.
std::size_t find_max_waiting() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 16, 1, max_waiting));
}

bool is_silent(const descriptor& with) {
  char byte = 0;
  return recv(with.get(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

}  // namespace

// A program that connects has its announcement ready. The oldest connections without an announcement are closed first.
void channel::make_room(const ucred& peer) {
  constexpr std::size_t max_of_process = 16, max_of_user = 128, max_in_all = 256;
  const auto drop_first = [this](std::size_t max, auto&& belongs, auto&& may_go) {
    if (static_cast<std::size_t>(std::count_if(waiting_.begin(), waiting_.end(), belongs)) < max) return;
    const auto first = std::find_if(waiting_.begin(), waiting_.end(), [&](const connection& connection) {
      return belongs(connection) && may_go(connection);
    });
    if (first != waiting_.end()) waiting_.erase(first);
  };
  const auto any = [](const connection&) { return true; };
  const auto silent = [](const connection& connection) { return is_silent(connection.with); };
  drop_first(
      max_of_process, [&](const connection& connection) { return connection.peer.pid == peer.pid; }, any);
  drop_first(
      max_of_user, [&](const connection& connection) { return connection.peer.uid == peer.uid; }, silent);
  drop_first(max_in_all, any, silent);
}

// False: no connection is waiting.
bool channel::accept_one() {
  lib::descriptor with(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!with) {
    const int number = errno;
    const timespec a_while{0, 10'000'000};  // without it, a caller that polls the socket would return at once
    if (number == EMFILE || number == ENFILE) {
      nanosleep(&a_while, nullptr);
      if (!std::exchange(has_complained_, true))
        complain(error("cannot answer all programs under observation", number,
                       "allow the observer more open files: ulimit -n")
                     .what());
    }
    return number == ECONNABORTED || number == EINTR;
  }
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(with.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return true;
  if (!is_ours(peer)) {
    constexpr std::size_t max_ignored = 64;
    if (peer.pid > 0 && ignored_.size() < max_ignored) ignored_.insert(peer.pid);
    return true;
  }
  make_room(peer);
  waiting_.push_back({std::move(with), peer, detail::monotonic_ns()});
  epoll_event event{EPOLLIN, {}};
  event.data.ptr = &waiting_.back();
  if (epoll_ctl(ready_.get(), EPOLL_CTL_ADD, waiting_.back().with.get(), &event) != 0) waiting_.pop_back();
  return true;
}

// The connections that can be read, at most one for each process.
std::vector<channel::connections::iterator> channel::find_ready() {
  std::array<epoll_event, max_waiting + 1> events{};
  const int count = epoll_wait(ready_.get(), events.data(), static_cast<int>(events.size()), 0);
  std::unordered_set<const void*> readable;
  for (int at = 0; at < count; ++at) {
    const void* const pointer = events[static_cast<std::size_t>(at)].data.ptr;  // a copy: epoll_event is packed
    readable.insert(pointer);
  }
  std::unordered_set<pid_t> processes;
  std::vector<connections::iterator> found;
  for (auto connection = waiting_.begin(); connection != waiting_.end(); ++connection)
    if (readable.count(&*connection) != 0 && processes.insert(connection->peer.pid).second) found.push_back(connection);
  std::stable_sort(found.begin(), found.end(),
                   [this](const auto& a, const auto& b) { return spent_ns_[a->peer.pid] < spent_ns_[b->peer.pid]; });
  return found;
}

void channel::handle(connections::iterator which, const answering& answer) {
  constexpr std::size_t max_processes = 4096;
  const connection connection = std::move(*which);
  waiting_.erase(which);
  const std::uint64_t begun_ns = detail::monotonic_ns();
  adaptyst_announcement announcement{};
  lib::descriptor along;
  if (receive(connection.with.get(), announcement, along))
    if (std::optional<reply> made = answer(connection.peer.pid, announcement, std::move(along)))
      if (!send_reply(connection.with.get(), std::move(*made)) && announcement.what != ADAPTYST_OBJECT_UNLOADING)
        ++unanswered_;
  if (spent_ns_.size() >= max_processes) spent_ns_.clear();
  spent_ns_[connection.peer.pid] += detail::monotonic_ns() - begun_ns;
}

void channel::handle(const answering& answer) {
  constexpr std::uint64_t max_ns = 300'000'000;  // the caller has other work
  constexpr std::uint64_t max_silent_ns = 1'000'000'000;
  constexpr int max_accepted = 64;  // between two rounds of answers
  const std::size_t most = find_max_waiting();
  const std::uint64_t begun_ns = detail::monotonic_ns();
  const auto is_over = [&] { return detail::monotonic_ns() - begun_ns > max_ns; };
  // New connections are accepted only when none is ready: make_room() would otherwise check all of them for each new
  // one.
  for (bool any = true; any && !is_over();) {
    any = false;
    for (const connections::iterator iterator : find_ready()) {
      if (is_over()) break;
      handle(iterator, answer);
      any = true;
    }
    for (int at = 0; at != max_accepted && !is_over() && waiting_.size() < most && accept_one(); ++at) any = true;
  }
  waiting_.remove_if([&](const connection& connection) {
    return begun_ns - std::min(begun_ns, connection.since_ns) > max_silent_ns && is_silent(connection.with);
  });
}

}  // namespace adaptyst::lib
