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

#include "../support/process_maps.hpp"
#include "elf_probes.hpp"
#include "foreign_object.hpp"

namespace adaptyst::lib {

struct process_object {
  std::string file;             // a name under which this process can open it
  std::uint64_t control_block;  // its address in the process
  std::shared_ptr<const elf_markers> markers;
  std::string no_probes_because;  // the kernel cannot observe it: why
};

// Why the probes of an object cannot be attached to, or empty. `data`: the mapping that holds its control block.
std::string why_no_probes(const std::vector<mapping>& mapped, const mapping& data, std::uint64_t block,
                          const elf_markers& markers);

// The objects that are mapped now. Files that cannot be read are passed over. Throws error when the process is not
// there, or may not be examined.
std::vector<process_object> find_objects(pid_t process);

// The objects that cannot be observed, under the names that the process has for them. Empty where find_objects() would
// throw.
std::vector<foreign_object> find_foreign_objects(pid_t process);

// Remembers which files have markers, since processes share most of what they map.
class known_files {
 public:
  bool have_markers(const std::string& file);

 private:
  // Device, inode and time of the last change: a file may be replaced, and its inode used again.
  using identity = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t>;
  std::map<identity, bool> known_;
};

// Whether find_objects() would find any; for many processes, and to be called often. False as well where it would
// throw.
bool has_objects(pid_t process, known_files& files);

}  // namespace adaptyst::lib

#endif
