// Reads the identity, the parent and the program of a process from /proc.
#ifndef ADAPTYST_LIB_SUPPORT_PROCESS_STAT_HPP
#define ADAPTYST_LIB_SUPPORT_PROCESS_STAT_HPP

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst::lib {

struct process_stat {
  pid_t parent;
  std::uint64_t started;  // clock ticks since the boot; together with its number, the identity of the process
};

// Empty: the process has ended, or is hidden.
std::optional<process_stat> read_stat(pid_t process);

// The end of a process that a descriptor (pidfd) was opened for.
struct process_end {
  std::optional<std::uint32_t> signal;  // that ended it; empty: none, or unknown
  bool is_kept = false;  // an ended child of this process that has not been waited for: its CPU time can be read
};
process_end read_end(int descriptor, pid_t process);

// When this process was started; 0 if /proc does not contain it.
std::uint64_t own_start();

// Whether a process with this number runs, and was started at that time (0: any time). For a hidden process, only the
// number is compared.
bool is_running(pid_t process, std::uint64_t started);

// The peak memory of this process in bytes; 0 if /proc does not contain it. getrusage() would include the peak of its
// parent, if that was higher before the process became this program.
std::uint64_t own_peak_rss_bytes();

// Resident memory of a process. Empty values: it has ended, or is hidden.
struct resident_memory {
  std::optional<std::uint64_t> peak_bytes, now_bytes;
};
resident_memory read_resident_memory(pid_t process);

// The path of the program that a process runs; empty if the process has ended or is hidden.
std::string find_program(pid_t process);
// The arguments of a process, its name first; cut off at 4,096 bytes. Empty if it has ended.
std::vector<std::string> read_arguments(pid_t process);

}  // namespace adaptyst::lib

#endif
