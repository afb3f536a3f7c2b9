// What there is to observe in a file or a process: probes, and the markers that have been awake. A marker is plain data
// in the program until it is first awake, so those that never were cannot be listed. Quantities that could not be had
// are empty, never 0.
#ifndef ADAPTYST_LIB_DISCOVER_INSPECTION_HPP
#define ADAPTYST_LIB_DISCOVER_INSPECTION_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst { inline namespace v1 {

// Addresses are as linked if a file was read, and those of the process if a process was.
struct probe {
  std::string name;
  std::string arguments;  // where they are, as the file says: "8@%rdi 8@%rsi"
  std::uint64_t file_offset = 0;
  std::uint64_t address = 0;
  std::optional<std::uint64_t> semaphore;  // its address
  bool has_fast_point = false;             // a 5-byte nop, which Linux 6.18 replaces by a call
};

// An ELF object with markers. Those that were built with headers of another ABI version than ADAPTYST_ABI_VERSION stay
// asleep, and nothing but their file is known.
struct marked_object {
  std::string file;
  std::uint32_t abi = 0;
  std::optional<std::uint64_t> control_block;  // the address of struct adaptyst_object (<adaptyst/probe_abi.h>)
  std::vector<probe> probes;
  std::string no_probes_because;  // why there are none to attach to, if there are none
};

// A marker that has been awake.
struct known_marker {
  std::string name;
  std::string label;  // the payload's texts
  source_location site;
  region_kind kind = region_kind::region;
  std::uint64_t ended = 0;  // since the process was last begun to be observed
};

struct inspection {
  std::string file;          // that was looked at; or
  std::int64_t process = 0;  // the process that was
  std::vector<marked_object> objects;
  std::optional<std::vector<known_marker>> markers;  // of a process, by file and line
  std::string no_markers_because;                    // why they are absent, if they are
};

// Whether eBPF works on this machine, and the reasons for and against it.
enum class verdict { ok, no, unknown };

struct check {
  std::string subject;  // "CAP_BPF"
  verdict is = verdict::unknown;
  std::string found;
  std::string enables;
  std::string advice;  // empty where nothing is to be done
};

struct diagnosis {
  bool ebpf_works = false;
  std::vector<check> checks;
};

}}  // namespace adaptyst::v1

#endif
