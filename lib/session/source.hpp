// Where a session's rows come from: the kernel, which counts what probes report, or the recorders alone.
#ifndef ADAPTYST_LIB_SESSION_SOURCE_HPP
#define ADAPTYST_LIB_SESSION_SOURCE_HPP

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../profile/measured.hpp"
#include "../support/error.hpp"
#include "../support/options.hpp"
#include "target.hpp"

namespace adaptyst::lib {

class kernel_rows;

// Whose events are listened to.
struct subject {
  pid_t process = 0;       // the only one that comes in question; 0: not known
  bool is_listed = false;  // it must be admitted first, as others than this process must
};

// What the recorders hold, read anew by each call.
using recorders = std::function<const measured&()>;

struct reading {
  const measured* rows;    // until the next one
  bool changes_are_known;  // rows are what the recorders hold; else any of them may be another than before
};

// What came of probes on functions.
struct probed_functions {
  std::vector<error> refused;                 // a line for each reason
  std::map<std::string, std::string> missed;  // why, by function, of those that the program imports
};

class source {
 public:
  virtual ~source() = default;

  virtual std::string name() const = 0;       // ebpf, inline
  virtual std::string mechanism() const = 0;  // for the report
  virtual bool in_kernel() const = 0;
  // What it adds to the cost of a marker that is awake; known after start().
  virtual double hit_ns() const = 0;
  // Where functions without markers may be regions as well, the rows of the markers; else null.
  virtual const kernel_rows* among_functions() const = 0;
  // What it takes to go on from here.
  virtual std::vector<unsigned> capabilities() const = 0;

  // Begins to listen. Throws error.
  virtual void start() = 0;
  // To this process as well, whose recorders are claimed. `object`: address of a control block in it; 0: not known.
  // Throws error.
  virtual void add_process(target& target, std::uint64_t object) = 0;
  // To the markers of an ELF file. Throws error. Thread-safe.
  virtual void adopt(const std::string& file) = 0;
  // To functions of a process: FILE:PATTERN, or sets. `command`: of one that is about to begin, then with all that it
  // starts; or null. `threads`: see function_options. Throws error.
  virtual probed_functions probe(const std::vector<std::string>& functions, pid_t process,
                                 const std::vector<std::string>* command, int threads) = 0;
  // No longer to these processes, which have ended.
  virtual void remove_processes(const std::vector<pid_t>& ended) = 0;

  // All that has ended so far.
  virtual reading read(const recorders& from) = 0;
  // Stops listening. Thread-safe.
  virtual void stop() = 0;
};

std::unique_ptr<source> make_recorder_source(subject whose);
// Throws error when it cannot work here.
std::unique_ptr<source> make_kernel_source(const options& options, subject whose);

}  // namespace adaptyst::lib

#endif
