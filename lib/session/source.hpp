// The source of a session's rows: the kernel, which counts the events of probes, or only the recorders.
#ifndef ADAPTYST_LIB_SESSION_SOURCE_HPP
#define ADAPTYST_LIB_SESSION_SOURCE_HPP

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../model/measurements.hpp"
#include "../model/ranks.hpp"
#include "../support/error.hpp"
#include "../support/options.hpp"
#include "target.hpp"

namespace adaptyst::lib {

class kernel_rows;

// Selects the processes with events that are counted.
struct subject {
  pid_t process = 0;       // the only possible process; 0: not known
  bool is_listed = false;  // only added processes count; always true for processes other than this one
};

struct reading {
  const measurements* rows;  // valid until the next read
  bool changes_are_known;    // true for rows of recorders, which know what has changed; else any row may have changed
};

// The result of attaching probes to functions.
struct probed_functions {
  std::vector<error> refused;                   // a line for each reason
  std::map<std::string, std::string> unprobed;  // reason by function, for functions that the program imports
};

// This header contains nothing of BPF, for sources without it.
class source {
 public:
  virtual ~source() = default;

  virtual std::string name() const = 0;       // ebpf, inline
  virtual std::string mechanism() const = 0;  // for the report
  virtual bool is_in_kernel() const = 0;
  // Additional cost of an event by the source; known after start().
  virtual double hit_ns() const { return 0; }
  // The rows of the markers, if functions without markers may be regions as well; else null.
  virtual const kernel_rows* among_functions() const { return nullptr; }
  // The capabilities that the source needs from here on.
  virtual std::vector<unsigned> capabilities() const { return {}; }

  // Attaches to the markers. Throws error.
  virtual void start() {}
  // Attaches to a process with claimed recorders. `object`: address of a control block in it; 0: not known.
  // Throws error.
  virtual void add_process(target& target, std::uint64_t object) = 0;
  // Attaches to the markers of an ELF file. Throws error. Thread-safe.
  virtual void attach_file(const std::string&) {}
  // Attaches to functions of a process: FILE:PATTERN, or sets. `command`: null, or that of a process which will soon
  // begin; then also to all processes that it starts. `threads`: see function_options. Throws error.
  virtual probed_functions probe(const std::vector<std::string>& functions, pid_t process,
                                 const std::vector<std::string>* command, int threads) = 0;
  // Detaches from these processes, which have ended.
  virtual void remove_processes(const std::vector<pid_t>&) {}

  // Joins its rows with those of the recorders. Empty: some events were on their way to its rows; the caller reads the
  // recorders again for the next attempt. `attempt`: 0 at the beginning of a read.
  virtual std::optional<reading> read(const measurements& recorded, unsigned attempt) = 0;
  // Times of each rank that the recorders do not contain, as of the last read; null: unknown.
  virtual const rank_times* find_rank_times() const = 0;
  // Detaches. Thread-safe.
  virtual void stop() {}
};

std::unique_ptr<source> make_recorder_source(subject subject);
// Throws error if the source cannot work here.
std::unique_ptr<source> make_kernel_source(const options& options, subject subject);

// Whether eBPF works here: by loading and attaching programs.
struct ebpf_trial {
  bool works = false;
  std::string mechanism;
  std::string refusal;  // the refused step and the reason
  std::string advice;
};
ebpf_trial try_ebpf();
// The version of libbpf in this build; empty: built without libbpf.
std::string libbpf_version();

}  // namespace adaptyst::lib

#endif
