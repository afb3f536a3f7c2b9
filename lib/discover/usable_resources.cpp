#include "machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

namespace adaptyst::lib {

namespace {

// The text after "name<spaces>:" in the first matching line.
std::string find_value(const std::string& text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && line.substr(0, name.size()) == name &&
        line.substr(name.size(), colon - name.size()).find_first_not_of(" \t") == std::string_view::npos) {
      const std::size_t value = line.find_first_not_of(" \t", colon + 1);
      return value != std::string_view::npos ? std::string(line.substr(value)) : std::string();
    }
    at = end + 1;
  }
  return {};
}

std::string read_text(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// "32768K", "480M", "12".
std::optional<std::uint64_t> parse_bytes(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{}) return std::nullopt;
  const char unit = stop != end ? *stop : ' ';
  const unsigned shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
  return number << shift;
}

}  // namespace

std::string find_cpu_model(const std::string& cpuinfo) {
  for (const char* const name : {"model name", "cpu model", "cpu"})
    if (std::string found = find_value(cpuinfo, name); !found.empty()) return found;
  const std::string maker = find_value(cpuinfo, "CPU implementer"), part = find_value(cpuinfo, "CPU part");
  return maker.empty() || part.empty() ? std::string() : fmt::format("implementer {}, part {}", maker, part);
}

std::string cpu_model() { return find_cpu_model(read_text("/proc/cpuinfo")); }

std::vector<unsigned> list_usable_cpus() {
  for (std::size_t most = 1024; most <= (std::size_t{1} << 20); most *= 2) {
    cpu_set_t* const set = CPU_ALLOC(most);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    std::vector<unsigned> made;
    if (sched_getaffinity(0, bytes, set) == 0)
      for (unsigned cpu = 0; cpu != most; ++cpu)
        if (CPU_ISSET_S(cpu, bytes, set)) made.push_back(cpu);
    CPU_FREE(set);
    if (!made.empty()) return made;
  }
  return {0};
}

std::optional<std::uint64_t> last_level_cache_bytes(const std::vector<unsigned>& cpus, const std::string& folder) {
  std::map<std::string, std::uint64_t> by_sharers;
  for (const unsigned cpu : cpus) {
    int deepest = 0;
    std::string sharers;
    std::uint64_t bytes = 0;
    for (unsigned index = 0;; ++index) {
      const std::string cache = fmt::format("{}/cpu{}/cache/index{}/", folder, cpu, index);
      const std::string level = first_line(cache + "level"), kind = first_line(cache + "type");
      if (level.empty()) break;
      const int depth = level[0] - '0';
      const std::optional<std::uint64_t> size = parse_bytes(first_line(cache + "size"));
      if (kind == "Instruction" || !size || depth <= deepest) continue;
      deepest = depth;
      bytes = *size;
      sharers = first_line(cache + "shared_cpu_list");
    }
    if (deepest != 0) by_sharers[sharers.empty() ? std::to_string(cpu) : sharers] = bytes;
  }
  if (by_sharers.empty()) return std::nullopt;
  std::uint64_t sum = 0;
  for (const auto& [sharers, bytes] : by_sharers) sum += bytes;
  return sum;
}

std::optional<std::uint64_t> available_memory_bytes() {
  std::optional<std::uint64_t> least;
  const std::string machine = find_value(read_text("/proc/meminfo"), "MemAvailable");
  if (const auto kib = parse_bytes(machine)) least = *kib * 1024;
  const auto limit = parse_bytes(first_line("/sys/fs/cgroup/memory.max"));
  const auto used = parse_bytes(first_line("/sys/fs/cgroup/memory.current"));
  if (limit && used) {
    const std::uint64_t left = *limit - std::min(*limit, *used);
    least = std::min(least.value_or(left), left);
  }
  return least;
}

}  // namespace adaptyst::lib
