// Collects the events of the markers in this process, from the constructor to stop().
//
//   int main() {
//     adaptyst::collector collector;
//     simulate();
//   }                               // prints the report; so does exit(), wherever it is called
//
// Link with adaptyst::collector. Options are text (key=value pairs joined by commas) or the struct of
// <adaptyst/options.hpp>. The environment variable ADAPTYST, in the text form, overrides both. Options: docs/options.md
// and `adaptyst help options`.
//
//   ADAPTYST=engine=inline,output=profile-%r.json;run.trace.json ./simulate
//
// No function throws or ends the program. An unknown option is reported on standard error with the most similar name,
// and ignored. If permissions are missing, a message contains the remedy, and the program runs without a collector. A
// second collector is refused. If `adaptyst run` observes the program, the collector prints one line and leaves the
// report to `adaptyst run`.
//
// At exit(), the calling thread stops a running collector, and open regions are reported as open; a signal handler must
// then not call exit(). _exit(), quick_exit(), abort() and signals do not stop it (but see keep= and docs/killed.md). A
// forked child never reports events of its parent.
//
// Processes with the same output= do not overwrite each other's files: each rank, and each process that finds the name
// in use, gets its own name. The names of written files are reported.
//
// Cost at start and stop: tens of ms for ebpf, a few ms for inline. In between: docs/overhead.md,
// docs/function-probes.md. The program's heap, signals, errno and locale stay unchanged. After stop(), no thread is
// left. Threads and descriptors until then: docs/limitations.md.
#ifndef ADAPTYST_COLLECTOR_HPP
#define ADAPTYST_COLLECTOR_HPP

#include <memory>
#include <string_view>

#include "detail/config.hpp"

namespace adaptyst { inline namespace v1 {

class error;     // complete in <adaptyst/profile.hpp>
struct options;  // complete in <adaptyst/options.hpp>
struct profile;  // complete in <adaptyst/profile.hpp>, which snapshot() and stop() need

class collector {
 public:
  explicit collector(std::string_view options = {}) noexcept;
  explicit collector(const options& options) noexcept;
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  // All events that have ended. The program need not pause. Empty if the collector does not run. Thread-safe.
  profile snapshot() const noexcept;

  // Stops the collector, reports, and returns the profile. Further calls return the same profile. Thread-safe.
  profile stop() noexcept;

  // Why the collector does not run, or which tool collects instead; null if it runs.
  const adaptyst::error* error() const noexcept;

 private:
  friend class rank_collector;
  struct chosen;  // options with $ADAPTYST applied
  explicit collector(const chosen& options) noexcept;

  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
