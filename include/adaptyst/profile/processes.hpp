// Processes that were observed, and their machines. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_PROCESSES_HPP
#define ADAPTYST_PROFILE_PROCESSES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst { inline namespace v1 {

// A region in which threads of a process were when it ended.
struct last_region {
  std::vector<std::string> path;
  std::uint64_t threads = 0;
  std::uint64_t age_ns = 0;  // of the oldest
};

// A thread since its start, as far as it was observed. It was blocked during the rest of the time that it existed.
struct thread_info {
  std::int64_t tid = 0;
  std::string name;
  std::uint64_t alive_ns = 0;
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t runnable_ns = 0;            // waiting for a core
  std::optional<std::uint32_t> last_cpu{};  // where it was last
};

struct process_info {
  std::int64_t pid = 0;
  std::string command;
  std::string host;
  std::uint64_t duration_ns = 0;         // 0: not known
  std::vector<last_region> ended_in{};   // the innermost of each thread, of a process that has ended in the middle
  std::vector<std::string> arguments{};  // its name first; empty: not known
  std::string started{};                 // when it began to be observed, ISO 8601 in UTC; empty: not known
  // That ran markers at a time, at most: a short-lived thread may hand its place to the next. Empty: not known.
  std::optional<std::uint32_t> threads{};
  std::optional<std::uint32_t> rank{};    // in its MPI program; empty: it has none
  bool killed = false;                    // it left what it had recorded, and no report
  std::optional<std::uint32_t> signal{};  // that ended it; empty: none did, or that is not known
  std::optional<std::int64_t> parent{};   // the process that has started it; empty: not known
  std::optional<std::uint64_t> cpu_ns{};  // of all its threads, while it was observed
  static constexpr std::size_t max_threads = 64;
  std::vector<thread_info> thread_list{};  // those that were longest on a core, also without markers; empty: not known
};

// Memory, and the processors that are next to it.
struct machine_node {
  std::uint64_t node = 0;  // the system's number of it
  std::optional<std::uint64_t> socket{};
  std::string cpus;  // as the system lists them: "0-7,16-23"
  std::optional<std::uint64_t> memory_bytes{};
};

struct machine_device {
  std::string kind;                     // gpu, accelerator or network, by its class
  std::string address;                  // on the PCI bus
  std::string id;                       // of vendor and device, in hexadecimal
  std::optional<std::uint64_t> node{};  // the memory that it is next to; empty: not known
};

// A machine on which something was observed, as /sys describes it.
struct machine {
  static constexpr std::size_t max_devices = 64;
  std::string host;
  std::optional<std::uint64_t> sockets{}, cores{};
  std::optional<std::uint64_t> cpus{};  // logical processors that are online
  std::vector<machine_node> nodes{};
  std::vector<machine_device> devices{};
};

// Processes that are counted, and not among profile::processes.
struct unlisted_processes {
  std::uint64_t processes = 0;
  std::uint64_t duration_ns = 0;
};

}}  // namespace adaptyst::v1

#endif
