// The ELF objects of another process that contain markers.
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
  std::string file;             // a name with which this process can open it
  std::uint64_t control_block;  // its address in the process
  std::shared_ptr<const elf_markers> markers;
  std::string no_probes_because;  // the reason if the kernel cannot observe it
};

// The reason why the probes of an object cannot be attached to; otherwise empty. `data`: the mapping with its control
// block.
std::string why_no_probes(const std::vector<mapping>& mapped, const mapping& data, std::uint64_t block,
                          const elf_markers& markers);

// The currently mapped objects. Unreadable files are skipped. Throws error if the process does not exist, or if this
// process may not examine it.
std::vector<process_object> find_objects(pid_t process);

// An ELF object with markers built with headers of another ABI version: they stay idle, and the report shows it.
struct foreign_object {
  std::string file;
  std::uint32_t abi;
};

// The objects that cannot be observed, under the process's names for them. Empty if find_objects() would throw.
std::vector<foreign_object> find_foreign_objects(pid_t process);

// Remembers which files have markers, because processes share most mapped files.
class file_cache {
 public:
  bool have_markers(const std::string& file);

 private:
  // Device, inode and change time: a file may be replaced, and the inode reused.
  using identity = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t>;
  std::map<identity, bool> cached_;
};

// Whether find_objects() would find an object, for frequent calls on many processes. False also if find_objects() would
// throw.
bool has_objects(pid_t process, file_cache& files);

inline std::string display_name(const foreign_object& object) {
  return fmt::format("{} was built for ABI version {}, not {}", object.file, object.abi, int{ADAPTYST_ABI_VERSION});
}

// The ELF objects of this process that contain markers.

// From the loader's list. Reads the mapped files, not the files that now have their names: a library may have been
// replaced, removed, or loaded from memory.
std::vector<process_object> loaded_objects();
std::vector<foreign_object> foreign_objects();

}  // namespace adaptyst::lib

#endif
