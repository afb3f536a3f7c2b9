// What the kernel knows of threads with markers: programs at the scheduler's switches and wake-ups and at page faults,
// which read from a thread's recorder what region it is in. Beside either engine; no trap a region.
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

#include "../profile/context.hpp"
#include "bpf_loading.hpp"
#include "kernel_rows.hpp"
#include "probed_files.hpp"
#include "uprobe_link.hpp"

struct adaptyst_context_row;
struct context_bpf;

namespace adaptyst::lib {

// Of one path, from what each processor has of it.
kernel_context sum_rows(const std::vector<adaptyst_context_row>& parts, bool with_faults);

class context_probes {
 public:
  // Loads the programs and attaches them to the kernel. `process`: whose threads may announce themselves, 0:
  // everybody's; `listed`: only those of the processes that add_process() has named. `among`: where functions without
  // markers are regions as well, the rows of the markers; else null. Throws error.
  context_probes(bool with_faults, pid_t process, bool listed, const kernel_rows* among);
  ~context_probes();
  context_probes(const context_probes&) = delete;
  context_probes& operator=(const context_probes&) = delete;

  // Listens to the threads that run this file's code, if that has not been done. Throws error. Thread-safe.
  void attach(const std::string& file);
  void add_process(pid_t process) const;
  void remove_process(pid_t process) const;

  // All that threads have come back from so far.
  context_sums read() const;
  // CPU time that the programs have taken, estimated from some of their runs; without the kernel's way to them.
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
};

}  // namespace adaptyst::lib

#endif
