#include "running_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

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

}  // namespace adaptyst::lib
