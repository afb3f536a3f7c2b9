#include "running_processes.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "../support/error.hpp"

namespace adaptyst::lib {

std::vector<pid_t> running_processes() {
  DIR* const all = opendir("/proc");
  if (all == nullptr) throw error("cannot list the processes in /proc", errno, "mount /proc");
  std::vector<pid_t> found;
  while (const dirent* const entry = readdir(all)) {
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    pid_t process = 0;
    if (const auto read = std::from_chars(entry->d_name, end, process); read.ec == std::errc{} && read.ptr == end)
      found.push_back(process);
  }
  closedir(all);
  return found;
}

std::vector<pid_t> find_children(pid_t process) {
  std::vector<pid_t> all;
  std::error_code none;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), none), end;
  for (; !none && thread != end; thread.increment(none)) {
    std::ifstream listed(thread->path() / "children");
    for (pid_t child = 0; listed >> child;) all.push_back(child);
  }
  return all;
}

bool is_ours(pid_t process) {
  struct stat owner {};
  return stat(fmt::format("/proc/{}", process).c_str(), &owner) == 0 && (geteuid() == 0 || owner.st_uid == geteuid());
}

}  // namespace adaptyst::lib
