// The ELF objects of another process that carry markers.
#ifndef ADAPTYST_LIB_DISCOVER_PROCESS_OBJECTS_HPP
#define ADAPTYST_LIB_DISCOVER_PROCESS_OBJECTS_HPP

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "elf_probes.hpp"

namespace adaptyst::lib {

struct process_object {
  std::string file;             // by a name that leads there from here
  std::uint64_t control_block;  // its address in the process
  std::shared_ptr<const elf_markers> markers;
};

// Those that are mapped now. Files that cannot be read are passed over; throws error when the process is not there, or
// not ours to look at.
std::vector<process_object> find_objects(pid_t process);

struct mapped_file {
  std::string path;  // as the process knows it
  std::string here;  // by a name that leads there from here
};

// All files that a process has mapped, each once; none when it is not there, or not ours to look at.
std::vector<mapped_file> mapped_files(pid_t process);

// A piece of a process's memory that holds code.
struct mapped_code {
  std::uint64_t begin, end;
  std::uint64_t offset;         // in the file
  std::uint64_t device, inode;  // of the file; inode 0: there is none
  std::string path;             // as the process knows it; or "[vdso]" and the like, or empty
  std::string here;             // by a name that leads to the file from here
};

// In the order of their addresses; none when the process is not there, or not ours to look at.
std::vector<mapped_code> mapped_codes(pid_t process);

// A number that is another when files have been mapped or unmapped since; 0 when the process is not there.
std::uint64_t state_of_files(pid_t process);

// Which files have markers, remembered, since processes share most of what they map.
class known_files {
 public:
  bool have_markers(const std::string& file);

 private:
  // Device, inode and time of the last change: a file may be replaced, and its inode used again.
  using identity = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t>;
  std::map<identity, bool> known_;
};

// Whether find_objects() would find any, for many processes and again and again. False as well where it would throw.
bool has_objects(pid_t process, known_files& files);

}  // namespace adaptyst::lib

#endif
