#include "machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <system_error>

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_nodes = 256, max_pci_entries = 4096;

std::string read_line(const std::string& name) {
  constexpr std::size_t most = 65536;
  std::ifstream file(name);
  std::string text;
  std::getline(file, text);
  text.resize(std::min(text.size(), most));
  return text;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// "0x030200"
std::optional<std::uint32_t> parse_hex(std::string_view text) {
  return text.substr(0, 2) == "0x" ? parse_number<std::uint32_t>(text.substr(2), 16) : std::nullopt;
}

// "Node 0 MemTotal:       65772180 kB"
std::optional<std::uint64_t> read_memory(const std::string& file) {
  const std::string line = read_line(file);
  const std::size_t name = line.find("MemTotal:"), end = line.rfind(" kB");
  if (name == std::string::npos || end == std::string::npos || end < name) return std::nullopt;
  const std::size_t begin = line.find_first_not_of(' ', name + 9);
  if (begin >= end) return std::nullopt;
  const std::optional<std::uint64_t> kib =
      parse_number<std::uint64_t>(std::string_view(line).substr(begin, end - begin));
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

// Devices that compute or communicate, by PCI class.
std::string name_class(std::uint32_t pci_class) {
  switch (pci_class >> 16U) {
    case 0x02: return "network";
    case 0x03: return "gpu";
    case 0x12: return "accelerator";
    default: return {};
  }
}

void add_devices(machine& to, const std::string& sys) {
  std::error_code none;
  std::filesystem::directory_iterator entry(sys + "/bus/pci/devices", none), end;
  for (std::size_t left = max_pci_entries; !none && entry != end && left != 0; entry.increment(none), --left) {
    const std::string folder = entry->path().string();
    const std::optional<std::uint32_t> pci_class = parse_hex(read_line(folder + "/class"));
    machine_device made;
    if (pci_class) made.kind = name_class(*pci_class);
    if (made.kind.empty()) continue;
    made.address = folder.substr(folder.rfind('/') + 1);
    const std::optional<std::uint32_t> vendor = parse_hex(read_line(folder + "/vendor")),
                                       device = parse_hex(read_line(folder + "/device"));
    if (vendor && device) made.id = fmt::format("{:04x}:{:04x}", *vendor, *device);
    if (const auto node = parse_number<std::int64_t>(read_line(folder + "/numa_node")); node && *node >= 0)
      made.node = static_cast<std::uint64_t>(*node);  // -1: unknown to the firmware
    to.devices.push_back(std::move(made));
  }
  std::sort(to.devices.begin(), to.devices.end(),
            [](const machine_device& a, const machine_device& b) { return a.address < b.address; });
  to.devices.resize(std::min(to.devices.size(), machine::max_devices));
}

}  // namespace

std::vector<std::uint32_t> parse_cpu_list(std::string_view text) {
  std::vector<std::uint32_t> made;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = parse_number<std::uint32_t>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<std::uint32_t>(part.substr(dash + 1));
    if (first && last)
      for (std::uint32_t cpu = *first; cpu <= *last && made.size() < max_described_cpus; ++cpu) made.push_back(cpu);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return made;
}

machine describe_machine(const std::string& host, const std::string& sys) {
  machine made;
  made.host = host;
  const std::string cpus = sys + "/devices/system/cpu/", nodes = sys + "/devices/system/node/";
  const std::vector<std::uint32_t> online = parse_cpu_list(read_line(cpus + "online"));
  if (!online.empty()) made.cpus = online.size();
  std::map<std::uint32_t, std::uint32_t> socket_of;  // by processor
  std::set<std::uint32_t> sockets, seen;
  std::uint64_t cores = 0;
  for (const std::uint32_t cpu : online) {
    if (!seen.insert(cpu).second) continue;
    const std::string folder = fmt::format("{}cpu{}/topology/", cpus, cpu);
    const std::optional<std::uint32_t> socket = parse_number<std::uint32_t>(read_line(folder + "physical_package_id"));
    // CPUs of a core share these files, so one read is enough.
    const std::vector<std::uint32_t> siblings = parse_cpu_list(read_line(folder + "thread_siblings_list"));
    if (siblings.empty()) continue;
    ++cores;
    seen.insert(siblings.begin(), siblings.end());
    if (!socket) continue;
    sockets.insert(*socket);
    for (const std::uint32_t sibling : siblings) socket_of[sibling] = *socket;
  }
  if (cores != 0) made.cores = cores;
  if (!sockets.empty()) made.sockets = sockets.size();
  for (const std::uint32_t node : parse_cpu_list(read_line(nodes + "online"))) {
    if (made.nodes.size() == max_nodes) break;
    machine_node numa_node;
    numa_node.node = node;
    numa_node.cpus = read_line(fmt::format("{}node{}/cpulist", nodes, node));
    numa_node.memory_bytes = read_memory(fmt::format("{}node{}/meminfo", nodes, node));
    for (const std::uint32_t cpu : parse_cpu_list(numa_node.cpus))
      if (const auto found = socket_of.find(cpu); found != socket_of.end()) {
        numa_node.socket = found->second;
        break;
      }
    made.nodes.push_back(std::move(numa_node));
  }
  add_devices(made, sys);
  return made;
}

}  // namespace adaptyst::lib
