// Where a session's rows come from: the kernel, which counts what probes report, or the recorders alone.
#ifndef ADAPTYST_LIB_SESSION_SOURCE_HPP
#define ADAPTYST_LIB_SESSION_SOURCE_HPP

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../model/measured.hpp"
#include "../model/ranks.hpp"
#include "../support/error.hpp"
#include "../support/options.hpp"
#include "target.hpp"

namespace adaptyst::lib {

class kernel_rows;

// The processes whose events are counted.
struct subject {
  pid_t process = 0;       // the only one that is possible; 0: not known
  bool is_listed = false;  // only processes that were added count; always so for others than this one
};

struct reading {
  const measured* rows;    // valid until the next reading
  bool changes_are_known;  // the rows are those of the recorders, which know what has changed; else any row may have
};

// The result of attaching probes to functions.
struct probed_functions {
  std::vector<error> refused;                 // a line for each reason
  std::map<std::string, std::string> missed;  // why, by function, of those that the program imports
};

// A source without programs in the kernel needs only what is pure here.
class source {
 public:
  virtual ~source() = default;

  virtual std::string name() const = 0;       // ebpf, inline
  virtual std::string mechanism() const = 0;  // for the report
  virtual bool in_kernel() const = 0;
  // What the source adds to the cost of an event; known after start().
  virtual double hit_ns() const { return 0; }
  // The rows of the markers, if functions without markers may be regions as well; else null.
  virtual const kernel_rows* among_functions() const { return nullptr; }
  // The capabilities that the source needs from here on.
  virtual std::vector<unsigned> capabilities() const { return {}; }

  // Begins to listen. Throws error.
  virtual void start() {}
  // Listens to a process whose recorders have been claimed. `object`: address of a control block in it; 0: not known.
  // Throws error.
  virtual void add_process(target& target, std::uint64_t object) = 0;
  // Listens to the markers of an ELF file. Throws error. Thread-safe.
  virtual void adopt(const std::string&) {}
  // Listens to functions of a process: FILE:PATTERN, or sets. `command`: that of a process which is about to begin, for
  // it and all that it starts; or null. `threads`: see function_options. Throws error.
  virtual probed_functions probe(const std::vector<std::string>& functions, pid_t process,
                                 const std::vector<std::string>* command, int threads) = 0;
  // Stops listening to these processes, which have ended.
  virtual void remove_processes(const std::vector<pid_t>&) {}

  // Joins its rows with those that the recorders hold. Empty: some events were on their way to its rows; the recorders
  // are to be read again, for the next attempt. `attempt`: 0 at the beginning of a reading.
  virtual std::optional<reading> read(const measured& recorded, unsigned attempt) = 0;
  // What each rank has done, as far as the recorders do not tell, when it was last read; null: it is not known.
  virtual const rank_times* find_rank_times() const = 0;
  // Stops listening. Thread-safe.
  virtual void stop() {}
};

std::unique_ptr<source> make_recorder_source(subject subject);
// Throws error when it cannot work here.
std::unique_ptr<source> make_kernel_source(const options& options, subject subject);

}  // namespace adaptyst::lib

#endif
