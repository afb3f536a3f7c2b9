// The socket by which the ranks of one machine find the process that observes them, and the packets they exchange.
#include "node_meeting.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <adaptyst/detail/config.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace adaptyst::tools {

namespace {

constexpr std::size_t max_packet_bytes = std::size_t{1} << 17U;

struct meeting_address {
  sockaddr_un whole{};
  socklen_t bytes = 0;

  explicit meeting_address(const std::string& name) {
    whole.sun_family = AF_UNIX;
    std::memcpy(whole.sun_path + 1, name.data(), name.size());
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&whole); }
};

meeting_attempt failed_attempt() { return {lib::descriptor(), errno}; }

}  // namespace

std::string meeting_name(const lib::launched_job& job, const observing_options& options) {
  std::array<char, 4096> directory{};
  if (getcwd(directory.data(), directory.size()) == nullptr) directory.front() = '\0';
  const adaptyst::options chosen = options.chosen_options();
  const std::string all = fmt::format(
      "{}.{}.{}\n{}\n{}\n{}\n{}\n{} {} {} {} {}", ADAPTYST_VERSION_MAJOR, ADAPTYST_VERSION_MINOR,
      ADAPTYST_VERSION_PATCH, geteuid(), job.identity, directory.data(), to_string(chosen), options.seconds,
      static_cast<int>(chosen.rows.sort), chosen.rows.rows ? static_cast<std::int64_t>(*chosen.rows.rows) : -1,
      chosen.rows.depth ? static_cast<std::int64_t>(*chosen.rows.depth) : -1, chosen.rows.least_share);
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : all) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("adaptyst-node-{}-{:016x}", geteuid(), hash);
}

meeting_attempt listen_at(const std::string& name) {
  const meeting_address address(name);
  lib::descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made || bind(made.get(), address.get(), address.bytes) != 0 || listen(made.get(), SOMAXCONN) != 0)
    return failed_attempt();
  return {std::move(made), 0};
}

meeting_attempt connect_to(const std::string& name) {
  const meeting_address address(name);
  lib::descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made || connect(made.get(), address.get(), address.bytes) != 0) return failed_attempt();
  return {std::move(made), 0};
}

pid_t find_peer(const lib::descriptor& connection) {
  ucred who{};
  socklen_t bytes = sizeof who;
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0 || who.uid != geteuid()) return 0;
  return who.pid > 0 ? who.pid : 0;
}

bool send_message(const lib::descriptor& connection, char what, std::string_view rest) {
  const std::string packet = what + std::string(rest);
  return send(connection.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(packet.size());
}

std::optional<std::string> receive_message(const lib::descriptor& from, std::chrono::milliseconds limit, bool& ended) {
  ended = false;
  std::string packet;
  const auto until = std::chrono::steady_clock::now() + limit;
  for (;;) {
    // Most reads find no message, so memory is allocated only for a message that has arrived.
    const ssize_t waiting = recv(from.get(), nullptr, 0, MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC);
    if (waiting > 0) packet.resize(std::min(static_cast<std::size_t>(waiting), max_packet_bytes));
    const ssize_t got = waiting > 0 ? recv(from.get(), packet.data(), packet.size(), MSG_DONTWAIT) : waiting;
    if (got > 0) {
      packet.resize(static_cast<std::size_t>(got));
      return packet;
    }
    ended = got == 0 || (errno != EAGAIN && errno != EINTR);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (ended || left.count() <= 0) return std::nullopt;
    pollfd event{from.get(), POLLIN, 0};
    ::poll(&event, 1, static_cast<int>(left.count()));
  }
}

}  // namespace adaptyst::tools
