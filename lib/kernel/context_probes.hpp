// What the kernel knows of threads with markers: programs at the scheduler's switches and wake-ups and at page faults,
// which read from a thread's recorder what region it is in. Works with either engine, and adds no trap for a region.
//
//   context_probes context(true, getpid(), false, nullptr);
//   context.attach("/usr/bin/solver");     // before a new epoch begins: its threads announce themselves once
//   context_sums now = context.read();
#ifndef ADAPTYST_LIB_KERNEL_CONTEXT_PROBES_HPP
#define ADAPTYST_LIB_KERNEL_CONTEXT_PROBES_HPP

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../model/context.hpp"
#include "bpf_loading.hpp"
#include "kernel_rows.hpp"
#include "probed_files.hpp"
#include "uprobe_link.hpp"

struct adaptyst_context_row;
struct context_bpf;

namespace adaptyst::lib {

// Adds up what each processor has booked on one path.
kernel_context sum_rows(const std::vector<adaptyst_context_row>& parts, bool with_faults);

class context_probes {
 public:
  // Loads the programs and attaches them to the kernel. `process`: the one whose threads may announce themselves; 0:
  // all processes. `listed`: only the processes that add_process() has named. `among`: the rows of the markers if
  // functions without markers are regions as well; else null. Throws error.
  context_probes(bool with_faults, pid_t process, bool listed, const kernel_rows* among);
  ~context_probes();
  context_probes(const context_probes&) = delete;
  context_probes& operator=(const context_probes&) = delete;

  // Attaches to the markers of this file, if that has not been done, so that threads which run them can announce
  // themselves. Throws error. Thread-safe.
  void attach(const std::string& file);
  void add_process(pid_t process) const;
  void remove_process(pid_t process);

  // Everything that threads have come back from so far: what is still under way is not in it.
  context_sums read() const;
  // To be read after the rows of recorders: a thread announces its recorder before the first event in it.
  const announced_recorders& announced();
  // CPU time that the BPF programs have taken, estimated from some of their runs. The time that the kernel needs to
  // call them is not in it.
  std::uint64_t cost_ns() const;
  void stop();

  // The map of threads that have announced themselves, for programs that ask which region one is in, or add to it.
  int threads() const;
  int function_stacks() const;  // -1: functions without markers are no regions
  // The map of processes that add_process() has named.
  int processes() const;

 private:
  pid_t process_;
  bool with_faults_;
  owned_programs<context_bpf> loaded_;
  std::vector<owned_link> tracepoints_;
  std::mutex mutex_;  // of what follows: objects may be loaded on any thread
  std::vector<uprobe_link> links_;
  probed_files files_;
  // The kernel's map holds the recorders of processes that are there; those of others make room when it is read.
  announced_recorders announced_;
  std::set<std::int64_t> ended_;
};

}  // namespace adaptyst::lib

#endif
