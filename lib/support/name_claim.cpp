#include "name_claim.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace adaptyst::lib {

namespace {

// The same for all spellings of a path; 0: there is no such directory.
std::uint64_t read_identity(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0) return 0;
  const std::string all = fmt::format("{}/{}/{}", status.st_dev, status.st_ino,
                                      std::string_view(file).substr(slash == std::string::npos ? 0 : slash + 1));
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : all) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

name_claim::name_claim(const std::string& file) {
  const std::uint64_t identity = read_identity(file);
  if (identity == 0) return;
  const std::string name = fmt::format("adaptyst-output-{:016x}", identity);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // abstract
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto* const where = reinterpret_cast<const sockaddr*>(&address);
  socket_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return;
  if (bind(socket_.get(), where, bytes) == 0) {
    listen(socket_.get(), SOMAXCONN);  // so that the kernel reports the owner of the name
    return;
  }
  const bool is_bound = errno == EADDRINUSE;
  socket_.reset();
  if (!is_bound) return;
  // Any process can bind a name. Only this user and root could write the file.
  const descriptor asking(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred owner{};
  socklen_t room = sizeof owner;
  is_taken_ = asking && connect(asking.get(), where, bytes) == 0 &&
              getsockopt(asking.get(), SOL_SOCKET, SO_PEERCRED, &owner, &room) == 0 &&
              (owner.uid == geteuid() || owner.uid == 0);
}

}  // namespace adaptyst::lib
