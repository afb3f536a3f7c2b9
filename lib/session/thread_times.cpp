#include "thread_times.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

std::string read_line(const std::string& name) {
  std::ifstream file(name);
  std::string text;
  std::getline(file, text);
  return text;
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t from = text.find_first_not_of(' '); from < text.size(); from = text.find_first_not_of(' ', from)) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    words.push_back(text.substr(from, end - from));
    from = end;
  }
  return words;
}

// Time since the boot of the machine, including sleep: the unit of a thread's start time.
std::uint64_t boot_time_ns() {
  timespec now{};
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  return static_cast<std::uint64_t>(now.tv_sec) * second_ns + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t to_ns(std::uint64_t ticks) {
  static const long per_second = sysconf(_SC_CLK_TCK);
  return per_second > 0 ? ticks * (second_ns / static_cast<std::uint64_t>(per_second)) : 0;
}

}  // namespace

std::optional<thread_stat> parse_thread_stat(std::string_view text) {
  const std::size_t begin = text.find('('), end = text.rfind(')');  // a name may contain any character
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  thread_stat made;
  made.name = text.substr(begin + 1, end - begin - 1);
  const std::vector<std::string_view> fields = split(text.substr(end + 1));  // from the third on
  if (fields.size() < 20 || !parse(fields[19], made.started_ticks)) return std::nullopt;
  std::uint32_t cpu = 0;
  if (fields.size() > 36 && parse(fields[36], cpu)) made.last_cpu = cpu;
  return made;
}

std::optional<thread_schedstat> parse_thread_schedstat(std::string_view text) {
  const std::vector<std::string_view> fields = split(text);
  thread_schedstat made;
  std::uint64_t stretches = 0;
  if (fields.size() < 3 || !parse(fields[0], made.on_cpu_ns) || !parse(fields[1], made.runnable_ns) ||
      !parse(fields[2], stretches))
    return std::nullopt;
  // A kernel that does not account for waits writes zeros (kernel.task_delayacct=0 without CONFIG_SCHEDSTATS).
  return stretches != 0 ? std::optional(made) : std::nullopt;
}

void thread_times::poll(pid_t process, std::uint64_t now_ns) {
  if (first_ns_ == 0) first_ns_ = now_ns;
  else if (now_ns - last_ns_ < std::min(second_ns, (now_ns - first_ns_) / 4)) return;
  last_ns_ = now_ns;
  const std::uint64_t boot_ns = boot_time_ns();
  std::error_code none;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), none), end;
  for (std::size_t left = max_looked_at; !none && thread != end && left != 0; thread.increment(none), --left) {
    const std::string folder = thread->path().string();
    std::int64_t number = 0;
    if (!parse(std::string_view(folder).substr(folder.rfind('/') + 1), number)) continue;
    const std::optional<thread_stat> stat = parse_thread_stat(read_line(folder + "/stat"));
    const std::optional<thread_schedstat> times = parse_thread_schedstat(read_line(folder + "/schedstat"));
    if (!stat || !times) continue;
    thread_info made;
    made.tid = number;
    made.on_cpu_ns = times->on_cpu_ns;
    made.runnable_ns = times->runnable_ns;
    made.name = stat->name;
    made.last_cpu = stat->last_cpu;
    const std::uint64_t since_start_ns = boot_ns - std::min(boot_ns, to_ns(stat->started_ticks));
    made.alive_ns = std::max(since_start_ns, made.on_cpu_ns + made.runnable_ns);  // starts are rounded to 10 ms
    const std::pair key(number, stat->started_ticks);
    if (threads_.size() < 4 * max_looked_at || threads_.count(key) != 0) threads_[key] = std::move(made);
  }
}

std::vector<thread_info> thread_times::list() const {
  std::vector<thread_info> all;
  all.reserve(threads_.size());
  for (const auto& [key, thread] : threads_) all.push_back(thread);
  std::stable_sort(all.begin(), all.end(),
                   [](const thread_info& a, const thread_info& b) { return a.on_cpu_ns > b.on_cpu_ns; });
  all.resize(std::min(all.size(), process_info::max_threads));
  return all;
}

}  // namespace adaptyst::lib
