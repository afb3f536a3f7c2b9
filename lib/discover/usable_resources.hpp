// What a process may use of its machine: the processor, CPUs, their caches, free memory.
#ifndef ADAPTYST_LIB_DISCOVER_USABLE_RESOURCES_HPP
#define ADAPTYST_LIB_DISCOVER_USABLE_RESOURCES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst::lib {

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
