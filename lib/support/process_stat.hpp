// What /proc says of a process: its identity, its parent, and which program it runs.
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
  std::uint64_t started;  // clock ticks since the machine was started: with its number, which process it is
};

// Empty: it has ended, or is hidden from us.
std::optional<process_stat> read_stat(pid_t process);

// How a process has ended that a descriptor (pidfd) was opened of.
struct process_end {
  std::optional<std::uint32_t> signal;  // that ended it; empty: none did, or that cannot be found out
  bool is_kept = false;  // it is a child of ours that nobody has waited for yet: its CPU time can be read
};
process_end read_end(int descriptor, pid_t process);

// When this process was started; 0 where /proc does not tell.
std::uint64_t own_start();

// Whether the process with this number runs, and was started at that time (0: any time). For a hidden process only the
// number counts.
bool is_running(pid_t process, std::uint64_t started);

// The most memory that this process had at once, in bytes; 0 where /proc does not tell. getrusage() tells that of its parent
// as well, where that was more before it became this program.
std::uint64_t own_peak_rss_bytes();

// The path of the program that a process runs; empty when it is gone, or hidden from us.
std::string find_program(pid_t process);
// What it was started with, its name first; cut off at 4,096 bytes. Empty when it is gone.
std::vector<std::string> read_arguments(pid_t process);

}  // namespace adaptyst::lib

#endif
