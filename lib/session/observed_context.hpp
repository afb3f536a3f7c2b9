// What the kernel knows of observed processes: where their threads were and, if asked for, the processor's counters and
// samples of their stacks.
#ifndef ADAPTYST_LIB_SESSION_OBSERVED_CONTEXT_HPP
#define ADAPTYST_LIB_SESSION_OBSERVED_CONTEXT_HPP

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "../kernel/context_probes.hpp"
#include "../kernel/counter_probes.hpp"
#include "../profile/context.hpp"
#include "../support/options.hpp"
#include "sampling.hpp"

namespace adaptyst::lib {

class observed_context {
 public:
  // `only`, `among`: see context_probes. Complains of counters and samples that cannot be had: the rest can. Throws error.
  observed_context(const options& asked, pid_t only, const kernel_rows* among);

  bool takes_samples() const { return sampling_ != nullptr; }
  int threads() const { return probes_.threads(); }  // see context_probes

  // Before the process's threads are in a new epoch, in which they announce themselves.
  void admit(pid_t process) const { probes_.admit(process); }
  void dismiss(pid_t process) const { probes_.dismiss(process); }
  // A file with markers. Complains of one that cannot be probed.
  void attach(const std::string& file);
  // What the process's stacks are made of, while it can be told.
  void look_at(pid_t process) const;
  void call(pid_t process, const std::string& command) const;

  // Before the regions' times, which are to hold what was booked on them.
  context_sums read();
  void add_to(measured& rows, const context_sums& known, const open_counts& open) const;
  std::optional<sample_usage> samples() const;
  // The files of stacks that were asked for.
  void write_stacks(const options& asked) const;

 private:
  context_probes probes_;
  std::optional<counter_probes> counters_;
  std::unique_ptr<sampling> sampling_;
};

}  // namespace adaptyst::lib

#endif
