// The kernel's data on threads with markers: programs at the scheduler's switches and wake-ups and at page faults read
// the current region from a thread's recorder. Works with either engine, and adds no trap to a region.
//
//   context_probes context(true, getpid(), false, nullptr);
//   context.attach("/usr/bin/solver");     // before a new epoch begins: its threads announce themselves once
//   context_sums now = context.read();
#ifndef ADAPTYST_LIB_KERNEL_CONTEXT_PROBES_HPP
#define ADAPTYST_LIB_KERNEL_CONTEXT_PROBES_HPP

#include <unistd.h>

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../model/context.hpp"
#include "bpf_loading.hpp"
#include "kernel_rows.hpp"
#include "kernel_sampling.hpp"
#include "probed_files.hpp"
#include "uprobe_link.hpp"
#include "window_sampling.hpp"

struct adaptyst_context_row;
struct context_bpf;

namespace adaptyst::lib {

// Adds up the rows of all processors for one path.
context_part sum_rows(const std::vector<adaptyst_context_row>& parts, bool with_faults);

class context_probes {
 public:
  // Loads the programs and attaches them to the kernel. `process`: its threads may announce themselves; 0: those of all
  // processes. `listed`: only processes named by add_process(). `rows_with_functions`: the rows of the markers if
  // functions without markers are regions as well; else null. Throws error.
  context_probes(bool with_faults, pid_t process, bool listed, const kernel_rows* rows_with_functions);
  ~context_probes();
  context_probes(const context_probes&) = delete;
  context_probes& operator=(const context_probes&) = delete;

  // Attaches to the markers of this file, once, so that threads which run them can announce themselves. Throws error.
  // Thread-safe.
  void attach(const std::string& file);
  void add_process(pid_t process) const;
  void remove_process(pid_t process);

  // All waits and switches that are over; those in progress are not included.
  context_sums read() const;
  // Read after the rows of recorders: a thread announces its recorder before the first event in it.
  const announced_recorders& announced();
  // CPU time of the BPF programs, estimated from some of their runs, and of the kernel's calls of them. Thread-safe.
  std::uint64_t cost_ns() const;
  // Thread switches, and page faults, so far; no page faults if the context has none. Thread-safe.
  struct loads {
    event_load switches, faults;
    std::uint64_t even_faults_ns = 0;  // cost of page faults; that of windows is spread over the next block (even_cost)
  };
  loads read_loads() const;
  // From now on, records one of 2^step page faults, or thread switches, at random; page faults in windows if that is chosen.
  // Called by one thread.
  void record_faults(const kernel_sampling& chosen);
  void record_switches(unsigned step);
  // Attaches or detaches the programs for page faults at the times of the windows. Called by the same thread. Returns when
  // the next call is due, on the monotonic clock; 0: no windows are in use. Waits for the begin of a window if that is no
  // later than `longest_wait_ns` from now; read() and read_loads() wait for this call.
  std::uint64_t keep_windows(std::uint64_t longest_wait_ns);
  void stop();

  // The map of threads that have announced themselves, for programs that need a thread's region, or add a thread.
  int threads() const;
  int function_stacks() const;  // -1: functions without markers are no regions
  // The map of processes named by add_process().
  int processes() const;

 private:
  // Windows of page faults.
  struct fault_windows {
    unsigned wanted = 1, current = 1;  // 1: the programs are always attached
    window_block block;
    window_sums sums;
    std::uint64_t blocks_ns = 0;
    even_cost cost;
    double delay_ns = 0;  // of a page fault in a window
    double interrupted_cpus = 1;
    double uncalled = 0;  // page faults while the programs were detached
    std::uint64_t attaching_ns = 0, attached_ns = 0;
    std::uint64_t attached_since_ns = 0;
    std::uint64_t refusals = 0;  // by the kernel, to attach the programs again

    fault_windows();
  };

  // Returns the number of an error, or 0.
  int attach_faults();
  bool attach_again();
  void detach_faults();
  void begin_windows(std::uint64_t now_ns);
  void finish_block(std::uint64_t now_ns);
  void set_window(unsigned state);
  void note_weight();
  event_load find_fault_load(const std::vector<std::uint64_t>& counts) const;
  void note_cost(std::uint64_t now_ns, std::uint64_t length_ns);
  void note_attaching(std::uint64_t began_ns);
  path_counts read_window_faults() const;
  void add_windows(context_sums& sums) const;

  pid_t process_;
  bool with_faults_;
  owned_programs<context_bpf> loaded_;
  std::vector<owned_link> tracepoints_;
  const pid_t maker_ = getpid();
  mutable std::mutex windows_mutex_;      // for fault_links_ and windows_
  std::vector<uprobe_link> fault_links_;  // a child that kept them would have each page fault counted twice
  fault_windows windows_;
  std::mutex mutex_;  // for the members below: objects may be loaded on any thread
  std::vector<uprobe_link> links_;
  probed_files files_;
  // The kernel's map contains the recorders of existing processes; a read removes those of other processes.
  announced_recorders announced_;
  std::set<std::int64_t> ended_;
  std::atomic<unsigned> coarsest_fault_weight_{1}, coarsest_switch_step_{0};
};

}  // namespace adaptyst::lib

#endif
