// What there is to observe, and what can observe it: a look at files, processes and the machine that changes nothing.
//
//   for (const adaptyst::marked_object& object : adaptyst::inspect_file("./solver").objects)
//     for (const adaptyst::probe& one : object.probes) std::cout << one.name << '\n';
//   if (const adaptyst::diagnosis found = adaptyst::diagnose(); !found.ebpf_works) std::cout << to_table(found);
//
// A marker is plain data in the program until it is first awake, so those that never were cannot be listed. A look costs
// the process that is looked at nothing. Functions throw adaptyst::error, which says what failed, why, and what to do.
// Quantities that could not be had are empty, never 0.
#ifndef ADAPTYST_INSPECT_HPP
#define ADAPTYST_INSPECT_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "error.hpp"
#include "profile.hpp"

namespace adaptyst { inline namespace v1 {

// Addresses are as linked in a file, and those of the process in a process.
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
};

// A marker that has been awake.
struct known_marker {
  std::string name;
  std::string label;  // the payload's texts
  source_location site;
  region_kind kind = region_kind::region;
  std::uint64_t ended = 0;  // since it was last begun to observe the process
};

struct inspection {
  std::string file;          // that was looked at; or
  std::int64_t process = 0;  // the process that was
  std::vector<marked_object> objects;
  std::optional<std::vector<known_marker>> markers;  // of a process, by file and line
  std::string no_markers_because;                    // why they are absent, if they are
};

// Of an ELF file, running or not. None is no error.
inspection inspect_file(const std::string& file);
// Of all that a process has mapped. Markers are read with the rights that ptrace asks for; all else, where its list of
// mappings can be read.
inspection inspect_process(std::int64_t process);

// Which running processes carry markers, for whoever asks again and again: find() costs a list of processes, and a look
// at those that are new. The others are looked at again after ever longer times, a minute at most, since a process may
// load a library with markers late.
class process_search {
 public:
  process_search();
  ~process_search();
  process_search(const process_search&) = delete;
  process_search& operator=(const process_search&) = delete;

  // Those of our own user, for root of everybody; without this process.
  std::vector<std::int64_t> find();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// An array of them, and tables.
std::string to_json(const std::vector<inspection>& of);
std::string to_table(const std::vector<inspection>& of);

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

// Whether this process could observe with eBPF: by loading the programs and attaching to a function of our own, which
// takes some 50 ms. The rest is there to tell why not.
diagnosis diagnose();

std::string to_json(const diagnosis& of);
std::string to_table(const diagnosis& of);

}}  // namespace adaptyst::v1

#endif
