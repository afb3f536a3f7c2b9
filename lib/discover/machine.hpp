// The parts of a machine in /sys: sockets, cores, memory nodes, devices.
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

// Reads some files for each core, up to this number of processors, and one for each PCI device. Missing values are
// absent.
constexpr std::size_t max_described_cpus = 8192;
machine describe_machine(const std::string& host, const std::string& sys = "/sys");

// The numbers of a list in the kernel's form: "0-3,8". Invalid parts are skipped.
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

// The resources that a process may use: processor, CPUs, their caches, free memory.

// `cpuinfo`: the text of /proc/cpuinfo. Returns the model; on Arm, which has no such line, implementer and part as
// numbers. Empty: unknown.
std::string find_cpu_model(const std::string& cpuinfo);
// For this machine; empty: unknown.
std::string cpu_model();

// The numbers of the CPUs on which this process may run.
std::vector<unsigned> list_usable_cpus();

// The last-level caches of these CPUs, each counted once even if CPUs share it. `folder` is /sys/devices/system/cpu,
// except in tests. Empty: unknown.
std::optional<std::uint64_t> last_level_cache_bytes(const std::vector<unsigned>& cpus,
                                                    const std::string& folder = "/sys/devices/system/cpu");

// The memory that this process can use without taking it from others, within the limit of its control group. Empty:
// unknown.
std::optional<std::uint64_t> available_memory_bytes();

}  // namespace adaptyst::lib

#endif
