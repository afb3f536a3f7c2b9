// The observable parts of a file or process: probes, and markers that have been enabled. A marker is plain data in the
// program until it is enabled for the first time, so the list contains only markers that were enabled. Unknown
// quantities are empty, never 0.
#ifndef ADAPTYST_LIB_DISCOVER_INSPECTION_HPP
#define ADAPTYST_LIB_DISCOVER_INSPECTION_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst { inline namespace v1 {

// Addresses are linked addresses for a file, and process addresses for a process.
struct probe {
  std::string name;
  std::string arguments;  // places in the notation of the file: "8@%rdi 8@%rsi"
  std::uint64_t file_offset = 0;
  std::uint64_t address = 0;
  std::optional<std::uint64_t> semaphore;  // its address
  bool has_fast_point = false;             // two longer nops: Linux 6.18 or 7.3 replaces one by a call
};

// An ELF object with markers. Markers built with headers of an ABI version other than ADAPTYST_ABI_VERSION stay idle;
// only their file is known.
struct marked_object {
  std::string file;
  std::uint32_t abi = 0;
  std::optional<std::uint64_t> control_block;  // the address of struct adaptyst_object (<adaptyst/probe_abi.h>)
  std::vector<probe> probes;
  std::string no_probes_because;  // the reason if its probes cannot be attached to
};

// A marker that has been enabled.
struct listed_marker {
  std::string name;
  std::string label;  // the payload's texts
  source_location site;
  region_kind kind = region_kind::region;
  std::uint64_t ended = 0;  // since the last start of observation of the process
};

struct inspection {
  std::string file;          // the inspected file, or
  std::int64_t process = 0;  // the inspected process
  std::vector<marked_object> objects;
  std::optional<std::vector<listed_marker>> markers;  // of a process, by file and line
  std::string no_markers_because;                     // the reason if they are absent
};

// Whether eBPF works on this machine, and the reasons for and against it.
enum class verdict { ok, no, unknown };

struct check {
  std::string subject;  // "CAP_BPF"
  verdict is = verdict::unknown;
  std::string found;
  std::string enables;
  std::string advice;  // empty if no action is needed
};

struct diagnosis {
  bool ebpf_works = false;
  std::vector<check> checks;
};

}}  // namespace adaptyst::v1

#endif
