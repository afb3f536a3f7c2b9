// Observed processes and their machines. Part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_PROCESSES_HPP
#define ADAPTYST_PROFILE_PROCESSES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst { inline namespace v1 {

// A region that was open on threads of a process when it ended.
struct last_region {
  std::vector<std::string> path;
  std::uint64_t threads = 0;
  std::uint64_t age_ns = 0;  // of the oldest
};

// A thread since its start, as far as observed. For the rest of alive_ns it was blocked.
struct thread_info {
  std::int64_t tid = 0;
  std::string name;
  std::uint64_t alive_ns = 0;
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t runnable_ns = 0;            // waiting for a core
  std::optional<std::uint32_t> last_cpu{};  // last CPU
};

// Resident memory of a process at a time.
struct resident_point {
  std::uint64_t after_ns = 0;  // since the start of the observation of the process
  std::uint64_t rss_bytes = 0;
};

struct process_info {
  std::int64_t pid = 0;
  std::string command;
  std::string host;
  std::uint64_t duration_ns = 0;         // 0: unknown
  std::vector<last_region> ended_in{};   // innermost region per thread, if the process ended inside regions
  std::vector<std::string> arguments{};  // with the program name; empty: unknown
  std::string started{};                 // start of the observation, ISO 8601 in UTC; empty: unknown
  // Most concurrent threads with markers; a new thread may take the place of an ended thread. Empty: unknown.
  std::optional<std::uint32_t> threads{};
  std::optional<std::uint32_t> rank{};    // in its MPI program; empty: none
  bool killed = false;                    // it left its recorded data, and no report
  std::optional<std::uint32_t> signal{};  // that ended it; empty: none, or unknown
  std::optional<std::int64_t> parent{};   // pid of its parent; empty: unknown
  std::optional<std::uint64_t> cpu_ns{};  // CPU time of all threads while observed
  // Resident memory, with memory=rss or heap: its peak, and when last read. Empty: not requested, or unknown.
  std::optional<std::uint64_t> peak_rss_bytes{}, rss_bytes{};
  static constexpr std::size_t max_threads = 64;
  std::vector<thread_info> thread_list{};  // longest on a core, also without markers; empty: unknown
  static constexpr std::size_t max_resident = 128;
  std::vector<resident_point> resident{};  // over time, with memory=rss or heap; empty: not requested, or unknown
};

// A memory node and its nearest processors.
struct machine_node {
  std::uint64_t node = 0;  // number given by the system
  std::optional<std::uint64_t> socket{};
  std::string cpus;  // in the system's form: "0-7,16-23"
  std::optional<std::uint64_t> memory_bytes{};
};

struct machine_device {
  std::string kind;                     // gpu, accelerator or network, by PCI class
  std::string address;                  // on the PCI bus
  std::string id;                       // vendor and device, hexadecimal
  std::optional<std::uint64_t> node{};  // nearest memory node; empty: unknown
};

// An observed machine, as /sys describes it.
struct machine {
  static constexpr std::size_t max_devices = 64;
  std::string host;
  std::optional<std::uint64_t> sockets{}, cores{};
  std::optional<std::uint64_t> cpus{};  // online logical processors
  std::vector<machine_node> nodes{};
  std::vector<machine_device> devices{};
};

// Processes that are counted but not listed in profile::processes.
struct unlisted_processes {
  std::uint64_t processes = 0;
  std::uint64_t duration_ns = 0;
};

}}  // namespace adaptyst::v1

#endif
