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
#include "foreign_object.hpp"

namespace adaptyst::lib {

struct process_object {
  std::string file;             // by a name that leads there from here
  std::uint64_t control_block;  // its address in the process
  std::shared_ptr<const elf_markers> markers;
};

// Those that are mapped now. Files that cannot be read are passed over; throws error when the process is not there, or
// not ours to look at.
std::vector<process_object> find_objects(pid_t process);

// Those that we cannot observe, by what the process calls them. Empty where find_objects() would throw.
std::vector<foreign_object> find_foreign_objects(pid_t process);

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
