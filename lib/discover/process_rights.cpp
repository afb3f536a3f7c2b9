#include "running_processes.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

template <class Id>
bool are_equal(const std::array<Id, 4>& ids) noexcept {
  return std::equal(ids.begin() + 1, ids.end(), ids.begin());
}

bool parse(const std::string& line, const char* name, std::array<std::uint32_t, 4>& numbers) {
  const std::string format = std::string(name) + " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32;
  return std::sscanf(line.c_str(), format.c_str(), &numbers[0], &numbers[1], &numbers[2], &numbers[3]) == 4;
}

}  // namespace

bool process_rights::have_one_user() const noexcept { return are_equal(users) && are_equal(groups); }

bool process_rights::follow(const process_rights& before) const noexcept {
  const bool were_root = before.users == decltype(users){};
  return were_root || (users == before.users && groups == before.groups && (capabilities & ~before.capabilities) == 0);
}

std::optional<process_rights> read_rights(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  process_rights found;
  bool has_users = false;
  bool has_groups = false;
  for (std::string line; std::getline(status, line);) {
    has_users = has_users || parse(line, "Uid:", found.users);
    has_groups = has_groups || parse(line, "Gid:", found.groups);
    if (std::sscanf(line.c_str(), "CapPrm: %" SCNx64, &found.capabilities) == 1 && has_users && has_groups)
      return found;
  }
  return std::nullopt;
}

void keep_capabilities(const std::vector<unsigned>& kept) {
  constexpr unsigned bits = 32;
  std::uint32_t mask[_LINUX_CAPABILITY_U32S_3] = {};
  for (const unsigned capability : kept) mask[capability / bits] |= std::uint32_t{1} << capability % bits;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  bool done = syscall(SYS_capget, &header, sets) == 0;
  bool has_more = false;
  for (unsigned at = 0; at != _LINUX_CAPABILITY_U32S_3; ++at) {
    has_more = has_more || ((sets[at].effective | sets[at].permitted | sets[at].inheritable) & ~mask[at]) != 0;
    sets[at].effective &= mask[at];
    sets[at].permitted &= mask[at];
    sets[at].inheritable &= mask[at];
  }
  done = done && (!has_more || syscall(SYS_capset, &header, sets) == 0);
  if (!done) throw error("cannot drop capabilities", errno, "allow capset()");
}

}  // namespace adaptyst::lib
