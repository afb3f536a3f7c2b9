// What a machine consists of, as /sys describes it: sockets, cores, memory nodes, devices.
#ifndef ADAPTYST_LIB_DISCOVER_MACHINE_HPP
#define ADAPTYST_LIB_DISCOVER_MACHINE_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// Reads some files for each core, of up to so many processors, and one for each PCI device. What is not there is absent.
constexpr std::size_t max_described_cpus = 8192;
machine describe_machine(const std::string& host, const std::string& sys = "/sys");

// The numbers of a list as the kernel writes it: "0-3,8". What is none is left out.
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

// What a process may use of its machine: the processor, CPUs, their caches, free memory.

// `cpuinfo`: the text of /proc/cpuinfo. Its model; on Arm, which has no such line, implementer and part as numbers.
// Empty: it does not say.
std::string find_cpu_model(const std::string& cpuinfo);
// Of this machine; empty: not known.
std::string cpu_model();

// That this process may run on, by number.
std::vector<unsigned> list_usable_cpus();

// The last-level caches of these CPUs, each counted once however many share it. Nothing: `folder`, which is
// /sys/devices/system/cpu but for tests, does not say.
std::optional<std::uint64_t> last_level_cache_bytes(const std::vector<unsigned>& cpus,
                                                    const std::string& folder = "/sys/devices/system/cpu");

// That this process can have without taking it from others; a limit of its control group counts. Nothing: not known.
std::optional<std::uint64_t> available_memory_bytes();

}  // namespace adaptyst::lib

#endif
