// Finds in /proc the reason why a program with markers has not announced itself.
#include "silent_programs.hpp"

#include <fmt/format.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <vector>

#include "../discover/elf_probes.hpp"
#include "../discover/running_processes.hpp"
#include "../support/process_maps.hpp"
#include "../support/process_stat.hpp"
#include "../support/reading_process.hpp"
#include "../support/regular_file.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t min_silence_ns = 300'000'000, min_silence_of_child_ns = 6'000'000'000;
// Longest time for the loader to load a program's libraries, if no reason is certain.
constexpr std::uint64_t max_loading_ns = 30'000'000'000;
constexpr std::uint64_t first_pause_ns = 100'000'000, max_pause_ns = 5'000'000'000;

// The text after a word at the beginning of a line; empty: no line begins with the word.
std::string find_line(const std::string& file, const std::string& word) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, word.size(), word) == 0) return line.substr(word.size());
  return {};
}

bool has_no_descriptor(pid_t process) {
  const std::string limit = find_line(fmt::format("/proc/{}/limits", process), "Max open files");
  std::error_code none;
  const std::filesystem::directory_iterator all(fmt::format("/proc/{}/fd", process), none);
  if (none || limit.empty()) return false;
  return std::distance(begin(all), end(all)) >= std::strtoll(limit.c_str(), nullptr, 10);
}

struct silence {
  std::string why;
  bool is_certain;  // false: the program may still be loading
};

silence find_reason(pid_t process) {
  constexpr std::size_t max_bytes = std::size_t{4} << 20;
  std::string environment;
  if (!read_process_file(process, "environ", max_bytes, environment)) environment.clear();
  if (has_no_descriptor(process)) return {"it has no free descriptor", true};
  if (!environment.empty() && environment.find("ADAPTYST_OBSERVER=") == std::string::npos)
    return {"ADAPTYST_OBSERVER is missing in its environment", true};
  if (std::strtol(find_line(fmt::format("/proc/{}/status", process), "Seccomp:").c_str(), nullptr, 10) == 2)
    return {"a filter of system calls (seccomp) refuses its socket", false};  // this is normal in a container
  return {"it has not reached the observer's socket", false};
}

constexpr const char* hint =
    "\nhint: allow it one more open file (ulimit -n), sockets of AF_UNIX, and the variable ADAPTYST_OBSERVER";

}  // namespace

void silent_programs::note_announced(pid_t process) {
  announced_[process] = find_image(process);
  if (const auto found = expected_.find(process); found != expected_.end()) found->second.why.clear();
  seen_.erase(process);
}

// A program that has just begun may not have reached its constructors, and many programs together wait up to five
// seconds for the observer's answer. A forked child announces itself at its first event, so it may be silent until it
// becomes another program.
void silent_programs::poll_process(pid_t process, pid_t parent) {
  const std::string image = find_image(process);
  if (image.empty()) {  // it has ended
    seen_.erase(process);
    return;
  }
  if (const auto entry = announced_.find(process); entry != announced_.end() && entry->second == image) return;
  sight& seen = seen_[process];
  const std::uint64_t now_ns = detail::monotonic_ns();
  if (std::exchange(seen.image, image) != image) seen.since_ns = now_ns;
  if (seen.is_reported || now_ns - seen.since_ns < (parent == 0 ? min_silence_ns : min_silence_of_child_ns)) return;
  if ((parent != 0 && find_image(parent) == image) || !has_objects(process, files_)) return;
  const auto [why, is_certain] = find_reason(process);
  if (!is_certain && now_ns - seen.since_ns < max_loading_ns) {
    if (const auto found = expected_.find(process); found != expected_.end())
      found->second = {find_program(process), why};
    return;
  }
  seen.is_reported = true;
  report_(fmt::format("process {} ({}) has markers and is not observed: {}{}", process,
                      printable(find_program(process)), why, hint),
          "markers that have not announced themselves: " + why);
}

void silent_programs::poll() {
  constexpr std::size_t max_processes = 64;
  const std::uint64_t now_ns = detail::monotonic_ns();
  if (expected_.empty() || now_ns < next_ns_) return;
  pause_ns_ = std::clamp(2 * pause_ns_, first_pause_ns, max_pause_ns);
  next_ns_ = now_ns + pause_ns_;
  std::vector<std::pair<pid_t, pid_t>> all;  // with their parents
  for (const auto& [process, expectation] : expected_) all.emplace_back(process, 0);
  for (std::size_t at = 0; at != std::min(all.size(), max_processes); ++at) {
    const auto [process, parent] = all[at];
    poll_process(process, parent);
    for (const pid_t child : find_children(process)) all.emplace_back(child, process);
  }
}

void silent_programs::finish() {
  for (const auto& [process, expectation] : expected_) {
    const auto& [program, known_why] = expectation;
    const auto entry = seen_.find(process);
    if (entry != seen_.end() && entry->second.is_reported) continue;
    // Without a reason, the program was not silent while it ran.
    if (known_why.empty() && (announced_.count(process) != 0 || !has_markers(program_called(program)))) continue;
    const std::string why = known_why.empty() ? "it has not reached the observer's socket" : known_why;
    report_(
        fmt::format("process {} ({}) has markers and was not observed: {}{}", process, printable(program), why, hint),
        "markers that have not announced themselves: " + why);
  }
  expected_.clear();
}

}  // namespace adaptyst::lib
