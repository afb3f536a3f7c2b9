// The ELF objects of another process that carry markers.
#ifndef ADAPTYST_LIB_DISCOVER_PROCESS_OBJECTS_HPP
#define ADAPTYST_LIB_DISCOVER_PROCESS_OBJECTS_HPP

#include <adaptyst/probe_abi.h>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <tuple>
#include <vector>

#include "../support/process_maps.hpp"
#include "elf_probes.hpp"

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

// An ELF object whose markers were built with headers of another ABI version: they stay asleep, and the report says so.
struct foreign_object {
  std::string file;
  std::uint32_t abi;
};

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

inline std::string display_name(const foreign_object& object) {
  return fmt::format("{} was built for ABI version {}, not {}", object.file, object.abi, int{ADAPTYST_ABI_VERSION});
}

// The ELF objects of this process that carry markers.

// As the loader knows them. Their files are those that are mapped, whatever their names lead to now: a library may have
// been replaced or removed since, or have come from memory.
std::vector<process_object> loaded_objects();
std::vector<foreign_object> foreign_objects();

}  // namespace adaptyst::lib

#endif
