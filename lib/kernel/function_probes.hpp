// Regions from functions that carry no markers: probes on their entries and returns, summed in the kernel.
//
//   function_probes probes({pid});
//   for (const refused_function& one : probes.attach("/usr/lib/libmpi.so.40", find_set("mpi"))) …
//   measured now = probes.read();
//
// A call costs the program 0.9 us, and what a return probe does to its stack is not harmless: docs/function-probes.md.
#ifndef ADAPTYST_LIB_KERNEL_FUNCTION_PROBES_HPP
#define ADAPTYST_LIB_KERNEL_FUNCTION_PROBES_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../discover/elf_functions.hpp"
#include "../discover/function_request.hpp"
#include "../model/measured.hpp"
#include "bpf_loading.hpp"
#include "kernel_rows.hpp"
#include "uprobe_link.hpp"

struct function_bpf;

namespace adaptyst::lib {

struct function_options {
  pid_t pid = 0;                       // 0: every process
  bool family = false;                 // also all that the process, of one thread yet, will start; see follows_family()
  bool single_stepped = false;         // also entries that cost a second trap, 19 us in a virtual machine; what waits
                                       // for others gets it anyway
  bool through_exceptions = false;     // also C++ functions: a program that throws through them is terminated
  const kernel_rows* among = nullptr;  // the rows of the markers, if these and functions may be nested
  int threads = -1;                    // map of context_probes, to which threads without markers are added
  std::vector<std::string> without{};  // patterns of the names and symbols of functions that get no probe
  bool sessions = true;                // use session links, where the kernel has them: Linux 6.13
};

struct refusal {
  std::string reason;  // empty: none
  std::string hint;    // what to do about it, or empty
};

struct refused_function {
  std::string name;                  // demangled
  std::vector<std::string> symbols;  // all that it is called
  refusal why;
};

// Why a function gets no probe, if it does not.
refusal why_refused(const function_place& place, const function_options& options);

// A line for each reason, with the functions that the program imports first and by name: their time counts as that of
// what calls them.
std::vector<error> explain(const std::vector<refused_function>& all, const std::set<std::string>& imported);

class function_probes {
 public:
  // Loads the programs, takes 25 ms. Throws error.
  explicit function_probes(const function_options& options);
  function_probes(const function_probes&) = delete;
  function_probes& operator=(const function_probes&) = delete;
  ~function_probes();

  // Attaches to what the requests for this file name in it, all at once; a function that has probes already keeps them.
  // Returns what was named but cannot be probed. Throws error; nothing has changed then.
  std::vector<refused_function> attach(const std::string& file, const std::vector<function_request>& requests);
  // The same for all functions that find_named() has found, in this process.
  std::vector<refused_function> attach(const named_functions& found, pid_t process);
  // Detaches from these processes, in 30 ms for all of them. What they did is kept.
  void release(const std::vector<pid_t>& processes);
  // Where `family` is in force, also what this process will start.
  void follow(pid_t first) const;
  // Whether `family` is in force. It needs session links: without them, return probes would go to every process that
  // uses the file.
  bool follows_family() const { return family_ != nullptr; }
  // How many functions have probes.
  std::size_t attached() const { return probed_.size(); }
  std::string mechanism() const;

  // All that has returned so far; still possible after stop().
  measured read() const;
  // Detaches, which takes 30 ms. Functions that are open then are not counted.
  void stop();

 private:
  // A process, a file and a place in it; copies of a library share their sites.
  using probed_function = std::tuple<pid_t, std::string, std::uint64_t>;

  std::vector<refused_function> attach(const std::string& file, const std::vector<function_request>& requests,
                                       pid_t process);
  bool load(bool sessions);
  void follow_family();

  function_options options_;
  owned_programs<function_bpf> loaded_;
  bool sessions_ = false;
  owned_link family_;
  std::map<pid_t, std::vector<uprobe_link>> links_;
  std::unordered_map<std::uint64_t, measured_site> sites_;
  std::set<probed_function> probed_;
};

}  // namespace adaptyst::lib

#endif
