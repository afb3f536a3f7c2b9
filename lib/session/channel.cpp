// The observer's end of the socket: accepts announcements from descendants of its own, answers each, and takes the
// descriptor of a store that may come along.
#include "channel.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <random>
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
    const std::optional<process_stat> known = read_stat(process);
    process = known ? known->parent : 0;
  }
  return false;
}

bool is_ours(const ucred& peer) {
  return peer.pid > 0 && (peer.uid == geteuid() || (geteuid() == 0 && is_descendant(peer.pid)));
}

// Takes all descriptors that came with a message, also if the sender has sent more than expected.
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

// An announcement as these headers make it, or at least the version of others; and the descriptor that came with it, if
// it was one.
bool receive(int peer, adaptyst_announcement& announcement, descriptor& along) {
  iovec body{&announcement, sizeof announcement};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(peer, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return false;
  std::vector<descriptor> all = take_descriptors(message);
  if (all.size() == 1 && (message.msg_flags & MSG_CTRUNC) == 0) along = std::move(all.front());
  if (got < static_cast<ssize_t>(sizeof announcement.abi)) return false;
  return got == static_cast<ssize_t>(sizeof announcement) || announcement.abi != ADAPTYST_ABI_VERSION;
}

void send_reply(int peer, channel::reply reply) {
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
  sendmsg(peer, &message, MSG_NOSIGNAL);
}

}  // namespace

channel::channel() {
  std::random_device random;
  name_ = fmt::format("adaptyst-{}-{:08x}{:08x}", getpid(), random(), random());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name_.data(), name_.size());  // abstract: it goes with us, and leaves no file
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  descriptor_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0 || bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      listen(descriptor_, SOMAXCONN) != 0) {
    const int number = errno;
    if (descriptor_ >= 0) close(descriptor_);
    throw error("cannot make a socket for the programs under observation", number, "allow sockets of AF_UNIX");
  }
}

channel::~channel() { close(descriptor_); }

void channel::handle(const answering& answer) {
  constexpr int max_at_once = 1000;  // the caller has other things to do as well
  for (int at = 0; at != max_at_once; ++at) {
    const int peer = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) {
      const timespec a_while{0, 10'000'000};  // or a caller that polls us would come back at once
      if (errno == EMFILE || errno == ENFILE) nanosleep(&a_while, nullptr);
      return;
    }
    const timeval longest{0, 200'000};  // a program that connects has its announcement ready
    setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    ucred who{};
    socklen_t bytes = sizeof who;
    adaptyst_announcement announcement{};
    lib::descriptor along;
    if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && is_ours(who) &&
        receive(peer, announcement, along))
      if (std::optional<reply> made = answer(who.pid, announcement, std::move(along)))
        send_reply(peer, std::move(*made));
    close(peer);
  }
}

}  // namespace adaptyst::lib
