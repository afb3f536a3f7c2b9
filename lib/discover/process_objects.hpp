// The ELF objects of another process that carry markers.
#ifndef ADAPTYST_LIB_DISCOVER_PROCESS_OBJECTS_HPP
#define ADAPTYST_LIB_DISCOVER_PROCESS_OBJECTS_HPP

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
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

}  // namespace adaptyst::lib

#endif
