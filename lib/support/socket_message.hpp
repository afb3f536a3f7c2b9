// Messages of a socket between this process and a child: a head of fixed size, bytes, and at most one descriptor.
#ifndef ADAPTYST_LIB_SUPPORT_SOCKET_MESSAGE_HPP
#define ADAPTYST_LIB_SUPPORT_SOCKET_MESSAGE_HPP

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace adaptyst::lib {

// Only system calls, for children of processes with threads. `along`: a descriptor, or -1. False, with errno: not sent.
template <class Head>
bool send_message(int to, const Head& head, const void* part, std::size_t bytes, int along, int flags = 0) noexcept {
  Head copy = head;
  iovec pieces[2] = {{&copy, sizeof copy}, {const_cast<void*>(part), bytes}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof along)] = {};
  msghdr sent{};
  sent.msg_iov = pieces;
  sent.msg_iovlen = bytes != 0 ? 2 : 1;
  if (along >= 0) {
    sent.msg_control = control;
    sent.msg_controllen = sizeof control;
    cmsghdr* const with = CMSG_FIRSTHDR(&sent);
    with->cmsg_level = SOL_SOCKET;
    with->cmsg_type = SCM_RIGHTS;
    with->cmsg_len = CMSG_LEN(sizeof along);
    std::memcpy(CMSG_DATA(with), &along, sizeof along);
  }
  for (;;) {
    if (sendmsg(to, &sent, MSG_NOSIGNAL | flags) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

// Returns the number of bytes after the head; -1: nothing, or no whole head. These bytes go to `part`.
template <class Head>
ssize_t receive_message(int from, Head& head, void* part, std::size_t max_bytes, int& along, int flags = 0) noexcept {
  iovec pieces[2] = {{&head, sizeof head}, {part, max_bytes}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof along)];
  msghdr got{};
  got.msg_iov = pieces;
  got.msg_iovlen = 2;
  got.msg_control = control;
  got.msg_controllen = sizeof control;
  along = -1;
  ssize_t bytes = 0;
  while ((bytes = recvmsg(from, &got, MSG_CMSG_CLOEXEC | flags)) < 0 && errno == EINTR) {}
  for (cmsghdr* with = bytes > 0 ? CMSG_FIRSTHDR(&got) : nullptr; with != nullptr; with = CMSG_NXTHDR(&got, with))
    if (with->cmsg_level == SOL_SOCKET && with->cmsg_type == SCM_RIGHTS)
      std::memcpy(&along, CMSG_DATA(with), sizeof along);
  return bytes < static_cast<ssize_t>(sizeof head) ? -1 : bytes - static_cast<ssize_t>(sizeof head);
}

}  // namespace adaptyst::lib

#endif
