// Regions from functions without markers: probes at their entries and returns, summed in the kernel.
//
//   function_probes probes({pid});
//   for (const refused_function& one : probes.attach("/usr/lib/libmpi.so.40", find_set("mpi"))) …
//   measured now = probes.read();
//
// A call costs the program 0.9 us. A return probe changes the program's stack, which can cause harm:
// docs/function-probes.md.
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
#include "../model/measurements.hpp"
#include "bpf_loading.hpp"
#include "kernel_rows.hpp"
#include "uprobe_link.hpp"

struct function_bpf;

namespace adaptyst::lib {

struct function_options {
  pid_t pid = 0;                        // 0: every process
  bool with_children = false;           // also processes that it starts while it has one thread; see follows_children()
  bool single_stepped = false;          // also entries that cost a second trap, 19 us in a virtual machine;
                                        // functions that wait for others are always probed
  bool may_crash_on_exception = false;  // also C++ functions: a program that throws through them is terminated
  const kernel_rows* among = nullptr;   // the rows of the markers, if these and functions may be nested
  int threads = -1;                     // map of context_probes, to which threads without markers are added
  std::vector<std::string> without{};   // patterns of the names and symbols of functions that get no probe
  bool sessions = true;                 // use session links, if the kernel has them: Linux 6.13
};

struct refusal {
  std::string reason;  // empty: none
  std::string hint;    // what the user can do, or empty
};

struct refused_function {
  std::string name;                  // demangled
  std::vector<std::string> symbols;  // all its names
  refusal why;
};

// Why a function gets no probe; empty if it gets one.
refusal why_refused(const function_place& place, const function_options& options);

// A line for each reason. Functions that the program imports come first and by name: their time counts as time of their
// callers.
std::vector<error> explain(const std::vector<refused_function>& all, const std::set<std::string>& imported);

class function_probes {
 public:
  // Loads the programs, which takes 25 ms. Throws error.
  explicit function_probes(const function_options& options);
  function_probes(const function_probes&) = delete;
  function_probes& operator=(const function_probes&) = delete;
  ~function_probes();

  // Attaches to the functions that the requests name in this file, all at once; a function that already has probes
  // keeps them. Returns the functions that cannot be probed. If it throws error, nothing has changed.
  std::vector<refused_function> attach(const std::string& file, const std::vector<function_request>& requests);
  // The same for all functions found by find_named(), in this process.
  std::vector<refused_function> attach(const named_functions& found, pid_t process);
  // Detaches from these processes, in 30 ms for all of them. Their rows are kept.
  void release(const std::vector<pid_t>& processes);
  // If `with_children` is in force, also the processes that this process starts.
  void follow(pid_t first) const;
  // Whether `with_children` is in force. It needs session links: without them, return probes would go to every process
  // that uses the file.
  bool follows_children() const { return children_ != nullptr; }
  // The number of functions with probes.
  std::size_t attached() const { return probed_.size(); }
  std::string mechanism() const;

  // All calls that have returned; still possible after stop().
  measurements read() const;
  // Detaches, which takes 30 ms. Functions that are open at that time are not counted.
  void stop();

 private:
  // A process, a file and a place in it; copies of a library share their sites.
  using probed_function = std::tuple<pid_t, std::string, std::uint64_t>;

  std::vector<refused_function> attach(const std::string& file, const std::vector<function_request>& requests,
                                       pid_t process);
  bool load(bool sessions);
  void follow_children();

  function_options options_;
  owned_programs<function_bpf> loaded_;
  bool sessions_ = false;
  owned_link children_;
  std::map<pid_t, std::vector<uprobe_link>> links_;
  std::unordered_map<std::uint64_t, measured_site> sites_;
  std::set<probed_function> probed_;
};

}  // namespace adaptyst::lib

#endif
