// /proc/PID/timens_offsets shows the offsets of the namespace of a process's children. It is also the namespace of the
// process, unless the process has called unshare().
#include "time_namespace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cinttypes>
#include <climits>
#include <cstdio>
#include <fstream>
#include <string>

namespace adaptyst::lib {

namespace {

std::string find_folder(pid_t process) { return process == 0 ? "/proc/self" : fmt::format("/proc/{}", process); }

// Offset of CLOCK_MONOTONIC from that of the machine. Empty: there are no time namespaces, or no such process.
std::optional<std::int64_t> read_offset_ns(pid_t process) {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  std::ifstream lines(find_folder(process) + "/timens_offsets");
  for (std::string line; std::getline(lines, line);) {
    std::int64_t seconds = 0, nanoseconds = 0;
    const bool is_found =
        std::sscanf(line.c_str(), "monotonic %" SCNd64 " %" SCNd64, &seconds, &nanoseconds) == 2 ||
        std::sscanf(line.c_str(), "1 %" SCNd64 " %" SCNd64, &seconds, &nanoseconds) == 2;  // Linux 5.6
    if (is_found) return seconds * ns_per_s + nanoseconds;
  }
  return std::nullopt;
}

// The identity of the namespace; empty: it may not be read.
std::string read_namespace(pid_t process, const char* name) {
  char target[PATH_MAX];
  const ssize_t bytes = readlink((find_folder(process) + "/ns/" + name).c_str(), target, sizeof target);
  return bytes > 0 ? std::string(target, static_cast<std::size_t>(bytes)) : std::string();
}

}  // namespace

std::optional<std::int64_t> find_clock_lead_ns(pid_t process) {
  const std::optional<std::int64_t> process_offset = read_offset_ns(process), ours = read_offset_ns(0);
  if (!process_offset || !ours || *process_offset == *ours) return 0;
  const std::string current = read_namespace(process, "time");
  if (current.empty()) return std::nullopt;
  if (current == read_namespace(0, "time")) return 0;
  if (current != read_namespace(process, "time_for_children")) return std::nullopt;
  return *process_offset - *ours;
}

}  // namespace adaptyst::lib
