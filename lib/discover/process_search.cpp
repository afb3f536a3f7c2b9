#include <adaptyst/inspect.hpp>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "../support/error.hpp"
#include "../support/process_maps.hpp"
#include "process_objects.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A shell is seen a moment before it becomes what it was asked to start.
constexpr milliseconds first_pause{500};
constexpr milliseconds longest_pause{60'000};

std::vector<pid_t> running_processes() {
  DIR* const all = opendir("/proc");
  if (all == nullptr) throw lib::error("cannot list the processes in /proc", errno, "mount /proc");
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

bool is_ours(pid_t process) {
  struct stat owner {};
  return stat(fmt::format("/proc/{}", process).c_str(), &owner) == 0 && (geteuid() == 0 || owner.st_uid == geteuid());
}

struct known_process {
  bool has_markers = false;
  std::string image;  // of one with markers
  milliseconds pause{0};
  clock::time_point next_look;
};

}  // namespace

struct process_search::state {
  std::map<pid_t, known_process> known;
  lib::known_files files;

  void look(pid_t process, known_process& at, clock::time_point now) {
    at.has_markers = is_ours(process) && lib::has_objects(process, files);
    at.image = at.has_markers ? lib::image_of(process) : "";
    at.pause = std::clamp(2 * at.pause, first_pause, longest_pause);
    at.next_look = now + at.pause;
  }
};

process_search::process_search() : state_(std::make_unique<state>()) {}
process_search::~process_search() = default;

std::vector<std::int64_t> process_search::find() {
  const clock::time_point now = clock::now();
  std::map<pid_t, known_process> before = std::exchange(state_->known, {});
  std::vector<std::int64_t> found;
  for (const pid_t process : running_processes()) {
    if (process == getpid()) continue;
    known_process& at = state_->known[process];
    if (const auto known = before.find(process); known != before.end()) at = std::move(known->second);
    if (at.has_markers ? at.image != lib::image_of(process) : now >= at.next_look) {
      if (at.has_markers) at.pause = milliseconds{0};
      state_->look(process, at, now);
    }
    if (at.has_markers) found.push_back(process);
  }
  return found;
}

}}  // namespace adaptyst::v1
