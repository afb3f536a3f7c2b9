// Parses /proc/PID/stat and cmdline. Number and start time identify a process, since numbers are used again.
#include "process_stat.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "reading_process.hpp"

namespace adaptyst::lib {

std::optional<process_stat> read_stat(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(')');  // a name may contain any character
  process_stat found{};
  // State and parent are the third and fourth fields, the start is field 22.
  constexpr const char* fields = " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64;
  if (name_end == std::string::npos ||
      std::sscanf(text.c_str() + name_end + 1, fields, &found.parent, &found.started) != 2)
    return std::nullopt;
  return found;
}

namespace {

// From linux/pidfd.h, since Linux 6.13: how a process has ended, after any parent has waited for it.
struct pidfd_info {
  std::uint64_t mask, cgroup;
  std::uint32_t numbers[11];  // of the process, its parent and its users
  std::int32_t exit_code;
};
static_assert(sizeof(pidfd_info) == 64);
constexpr unsigned long get_pidfd_info = _IOWR(0xFF, 11, pidfd_info);
constexpr std::uint64_t pidfd_info_exit = 1 << 3;

std::optional<std::uint32_t> signal_in(int status) {
  return WIFSIGNALED(status) ? std::optional<std::uint32_t>(WTERMSIG(status)) : std::nullopt;
}

// The last field, of a process that has not been waited for; 0 also if this process may not read it.
int read_exit_code(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t last = text.find_last_of(' ');
  return last != std::string::npos && text.find(") Z ") != std::string::npos ? std::atoi(text.c_str() + last + 1) : 0;
}

}  // namespace

process_end read_end(int descriptor, pid_t process) {
  siginfo_t child{};
  constexpr auto by_descriptor = static_cast<idtype_t>(3);  // P_PIDFD
  if (waitid(by_descriptor, static_cast<id_t>(descriptor), &child, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      child.si_pid != 0) {
    const bool is_killed = child.si_code == CLD_KILLED || child.si_code == CLD_DUMPED;
    return {is_killed ? std::optional<std::uint32_t>(child.si_status) : std::nullopt, true};
  }
  pidfd_info info{};
  info.mask = pidfd_info_exit;
  if (ioctl(descriptor, get_pidfd_info, &info) == 0 && (info.mask & pidfd_info_exit) != 0)
    return {signal_in(info.exit_code)};
  return {signal_in(read_exit_code(process))};
}

std::uint64_t own_start() {
  const std::optional<process_stat> own = read_stat(getpid());
  return own ? own->started : 0;
}

resident_memory read_resident_memory(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  resident_memory found;
  std::uint64_t kib = 0;
  for (std::string line; std::getline(file, line);) {
    if (std::sscanf(line.c_str(), "VmHWM: %" SCNu64, &kib) == 1) found.peak_bytes = kib * 1024;
    if (std::sscanf(line.c_str(), "VmRSS: %" SCNu64, &kib) == 1) found.now_bytes = kib * 1024;
  }
  return found;
}

std::uint64_t own_peak_rss_bytes() { return read_resident_memory(getpid()).peak_bytes.value_or(0); }

bool is_running(pid_t process, std::uint64_t started) {
  if (kill(process, 0) != 0 && errno == ESRCH) return false;
  const std::optional<process_stat> now = read_stat(process);
  return !now || started == 0 || now->started == started;
}

std::vector<std::string> read_arguments(pid_t process) {
  constexpr std::size_t max_bytes = 4096;
  std::string text;
  read_process_file(process, "cmdline", max_bytes + 1, text);
  const bool is_cut = text.size() > max_bytes;
  if (is_cut) text.resize(max_bytes);
  std::vector<std::string> words;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\0', from), text.size());
    words.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  if (is_cut) words.back() += "…";
  return words;
}

std::string find_program(pid_t process) {
  char path[PATH_MAX];
  const std::string link = process == getpid() ? "/proc/self/exe" : fmt::format("/proc/{}/exe", process);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace adaptyst::lib
