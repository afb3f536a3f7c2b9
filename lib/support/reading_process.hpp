// Reads memory and files of other processes in a child process. A page or a file may never be delivered (FUSE), and a
// thread that waits for it cannot be killed; so a child waits, and no thread of this process.
#ifndef ADAPTYST_LIB_SUPPORT_READING_PROCESS_HPP
#define ADAPTYST_LIB_SUPPORT_READING_PROCESS_HPP

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "descriptor.hpp"

namespace adaptyst::lib {

// Processes of the observer's user are read directly; the child reads those of other users. For the latter, all
// functions wait 2 s at most, and 8 s in 30 s for all processes together (then 0.1 s each). A process that is not read
// in time is reported, and refused from then on: ETIMEDOUT. A read of a few bytes costs about 30 us. Thread-safe.

// Starts the child, which is small if this function is called early; otherwise, the first call of a function below
// does.
void start_reading() noexcept;

// For a child that fork() has just made: it leaves the terminal and closes all descriptors but the socket, which becomes
// its standard input. It keeps only capabilities that reading other processes needs, and has a reader of its own.
void enter_reading_child(int socket) noexcept;

// Whether a read of the process was not delivered in time.
bool has_hung(pid_t process) noexcept;

// The memory of a program, and its identity: the open /proc/PID/mem and, if the memory is shared and outlives the
// program, find_image_number() from before the memory was opened. The number 0 matches no program.
struct program_memory {
  pid_t process = 0;
  int descriptor = -1;
  std::uint64_t image = 0;
};

// Differs between the programs that a process runs one after another; 0: the process has ended, or is hidden.
std::uint64_t find_image_number(pid_t process) noexcept;

// As pread() and pwrite() of the descriptor: 0 if that program is gone. Other programs can place probes and fork during
// a read; with pread() they could not.
ssize_t read_memory(const program_memory& from, void* to, std::size_t bytes, std::uint64_t address) noexcept;
ssize_t write_memory(const program_memory& in, const void* from, std::size_t bytes, std::uint64_t address) noexcept;
bool is_memory_gone(const program_memory& of) noexcept;

// The text of a file in /proc/PID that the kernel takes from the memory of the process or its list of mappings, such as
// "maps"; at most `max_bytes`. False, with errno: it cannot be read.
bool read_process_file(pid_t process, const char* name, std::size_t max_bytes, std::string& text);

// stat(). The child reads names in /proc/PID of another process, this process all others.
int find_status(const std::string& name, struct stat& found) noexcept;

// The same for many names in the folder of one process, at once; all zero if there is no such file.
std::vector<struct stat> find_statuses(pid_t process, const std::vector<std::string>& names);

// A regular file that is open for reading, or nothing, with errno; 0: it is not a regular file.
struct readable_file {
  descriptor file, contents;  // `contents`: a copy if reading the file itself may block, else empty
  dev_t device = 0;
  ino_t inode = 0;
};
// `name`: as for find_status().
readable_file open_regular(const std::string& name) noexcept;

}  // namespace adaptyst::lib

#endif
