// The rights of a process: its users and capabilities, which an exec() of a setuid program changes.
#ifndef ADAPTYST_LIB_DISCOVER_PROCESS_RIGHTS_HPP
#define ADAPTYST_LIB_DISCOVER_PROCESS_RIGHTS_HPP

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

namespace adaptyst::lib {

struct process_rights {
  std::array<uid_t, 4> users{};  // real, effective, saved, of the file system
  std::array<gid_t, 4> groups{};
  std::uint64_t capabilities = 0;  // that it may use

  // Not setuid, nor setgid.
  bool have_one_user() const noexcept;
  // Whether a user with the rights `before` could start a program with these rights: with the same ones, or with fewer.
  bool follow(const process_rights& before) const noexcept;
};

// Empty when the process has ended.
std::optional<process_rights> read_rights(pid_t process);

}  // namespace adaptyst::lib

#endif
