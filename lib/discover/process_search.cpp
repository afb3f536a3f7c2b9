// Remembers processes without markers and reads them again at increasing intervals, so that a search is cheap.
#include "running_processes.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "../support/process_maps.hpp"
#include "process_objects.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A search may find a shell shortly before exec() replaces it with the program.
constexpr milliseconds first_pause{500};
constexpr milliseconds max_pause{60'000};

struct known_process {
  bool has_markers = false;
  std::string image;  // the image of a process with markers
  milliseconds pause{0};
  clock::time_point next_look;
};

}  // namespace

struct process_search::state {
  std::map<pid_t, known_process> looked_at;
  lib::file_cache files;

  void poll(pid_t process, known_process& at, clock::time_point now) {
    at.has_markers = lib::is_ours(process) && lib::has_objects(process, files);
    at.image = at.has_markers ? lib::find_image(process) : "";
    at.pause = std::clamp(2 * at.pause, first_pause, max_pause);
    at.next_look = now + at.pause;
  }
};

process_search::process_search() : state_(std::make_unique<state>()) {}
process_search::~process_search() = default;

std::vector<std::int64_t> process_search::find() {
  const clock::time_point now = clock::now();
  std::map<pid_t, known_process> before = std::exchange(state_->looked_at, {});
  std::vector<std::int64_t> found;
  for (const pid_t process : lib::running_processes()) {
    if (process == getpid()) continue;
    known_process& at = state_->looked_at[process];
    if (const auto entry = before.find(process); entry != before.end()) at = std::move(entry->second);
    if (at.has_markers ? at.image != lib::find_image(process) : now >= at.next_look) {
      if (at.has_markers) at.pause = milliseconds{0};
      state_->poll(process, at, now);
    }
    if (at.has_markers) found.push_back(process);
  }
  return found;
}

}}  // namespace adaptyst::v1
