// The mappings of a process, from /proc/PID/maps; and how to find out whether a process runs another program.
#ifndef ADAPTYST_LIB_SUPPORT_PROCESS_MAPS_HPP
#define ADAPTYST_LIB_SUPPORT_PROCESS_MAPS_HPP

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace adaptyst::lib {

using file_identity = std::pair<dev_t, std::uint64_t>;  // device and inode; inode 0: no file

struct mapping {
  std::uint64_t begin, end;
  std::uint64_t offset;  // in the file
  file_identity identity;
  bool readable, writable, executable, shared;
  std::string path;  // the process's name for it; or "[vdso]" and the like, or empty

  bool is_file() const { return identity.second != 0 && !path.empty() && path[0] == '/'; }
};

// Calls visit() for each mapping, in the order of addresses. False, with errno: the process does not exist, or may not
// be examined.
bool for_each_mapping(pid_t process, const std::function<void(mapping&)>& visit);

// The mappings of files, in the order of addresses; none, with errno, if for_each_mapping() would return false.
std::vector<mapping> find_mapped_pieces(pid_t process);
// The mapping that contains an address, of mappings in the order of their addresses; or null.
const mapping* find_holder(const std::vector<mapping>& mapped, std::uint64_t address);

// A name that opens the file that is actually mapped: it may be in another mount namespace, and another file may have
// replaced it.
std::string name_from_here(pid_t process, const mapping& piece);

struct mapped_file {
  std::string path;  // the process's name for it
  std::string here;  // a name under which this process can open it
};

// All files that a process has mapped, each once; none if the process does not exist, or may not be read.
std::vector<mapped_file> mapped_files(pid_t process);

// A number that changes when files are mapped or unmapped; 0 if the process does not exist.
std::uint64_t read_file_state(pid_t process);

// The addresses at which code and stack begin, which exec() changes; empty if the process has ended.
std::string find_image(pid_t process);

}  // namespace adaptyst::lib

#endif
