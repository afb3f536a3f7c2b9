// What a machine consists of, as /sys describes it: sockets, cores, memory nodes, devices.
#ifndef ADAPTYST_LIB_DISCOVER_MACHINE_HPP
#define ADAPTYST_LIB_DISCOVER_MACHINE_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// Reads some files for each core, of up to so many processors, and one for each PCI device. What is not there is absent.
constexpr std::size_t max_described_cpus = 8192;
machine describe_machine(const std::string& host, const std::string& sys = "/sys");

// The numbers of a list as the kernel writes it: "0-3,8". What is none is left out.
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

}  // namespace adaptyst::lib

#endif
