// The kernel's data on the threads of observed processes: run times, reasons for waiting and, if requested, the
// processor's counters and stack samples.
#ifndef ADAPTYST_LIB_SESSION_THREAD_CONTEXT_HPP
#define ADAPTYST_LIB_SESSION_THREAD_CONTEXT_HPP

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "../model/context.hpp"
#include "../symbolise/construct_names.hpp"
#include "output_names.hpp"
#include "source.hpp"
#include "timeline.hpp"

namespace adaptyst::lib {

class thread_context {
 public:
  virtual ~thread_context() = default;

  virtual bool takes_samples() const = 0;
  virtual int threads() const = 0;  // see context_probes

  // Call it before a new epoch of the process, in which its threads announce themselves.
  virtual void add_process(pid_t process) = 0;
  virtual void remove_process(pid_t process) = 0;
  // How a process comes to this observer: it will soon run the program that the observer starts; it was running before
  // the observer attached to it; or it has announced itself, and may have been started by one of these.
  enum class arrival { starting, attached, announced };
  // Throws error.
  virtual void follow(pid_t /*process*/, arrival) {}
  // False: the samples of a followed process, or their regions, are unknown.
  virtual bool is_sampled(pid_t /*process*/) const { return true; }
  // Takes samples out of rings, if it is time; and the longest time to the next call.
  virtual void drain() {}
  virtual double seconds_to_drain() const { return 0.1; }
  // The value of ADAPTYST_SAMPLES in programs that sample themselves; empty: they do not.
  virtual std::string sample_file() const { return {}; }
  // Takes the scopes of processes, if samples need them to find their regions; else null.
  virtual scope_taker* scopes() { return nullptr; }
  // Attaches to a file with markers. Complains if it cannot be probed. Thread-safe.
  virtual void attach(const std::string& file) = 0;
  // Notes the mappings of the process, while it exists, so that its stacks can be named.
  virtual void note_mappings(pid_t process) = 0;
  virtual void set_command(pid_t process, const std::string& command) = 0;

  // Samples stacks of processes that have announced no markers, until they do: without markers, only stacks are known.
  virtual void sample_unmarked(const options& options) = 0;
  virtual bool samples_unmarked() const = 0;
  virtual void end_unmarked() = 0;
  // Number of samples of these processes, by function.
  virtual std::map<std::string, std::uint64_t> functions() = 0;

  // CPU time that this has cost the observed processes, with that of windows spread over time; empty: unknown. Thread-safe.
  virtual std::optional<std::uint64_t> cost_ns() const = 0;
  // Skips page faults, thread switches and stacks of waits if they cost more than their part of an overhead budget of
  // `share`. `cpu_ns`: CPU time of the observed processes so far. Called by one thread at a time.
  virtual void keep_within(double /*share*/, std::uint64_t /*cpu_ns*/) {}
  // Attaches programs for a short time, or detaches them, if that is due. Called by the same thread. See context_probes::keep_windows().
  virtual std::uint64_t keep_windows(std::uint64_t /*longest_wait_ns*/) { return 0; }

  // Called before the times of regions are read, so that these include the times in the context. Empty: only samples
  // are taken.
  virtual std::optional<context_sums> read() = 0;
  // See context_probes.
  virtual const announced_recorders& announced() = 0;
  virtual void add_to(measurements& rows, const std::optional<context_sums>& sums, const open_region_counts& open) = 0;
  virtual std::optional<sample_usage> samples() const = 0;
  // Gives the profile its stacks, and writes the requested files of them; ends the sampling.
  virtual void finish_stacks(output_names& names, construct_names& constructs, profile& made) = 0;
};

// `rows_with_functions`: see context_probes. Complains if counters or samples are not available, and works
// without them. Throws error if it cannot work at all.
std::unique_ptr<thread_context> make_thread_context(const options& options, subject subject,
                                                    const kernel_rows* rows_with_functions);

}  // namespace adaptyst::lib

#endif
