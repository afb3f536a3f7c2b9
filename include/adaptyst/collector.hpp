// Collects what the markers of this process tell, from the constructor to stop().
//
//   int main() {
//     adaptyst::collector collector;
//     simulate();
//   }                               // prints the report; so does exit(), wherever it is called
//
// Link with adaptyst::collector. Options are text, key=value pairs joined by commas, or the struct of
// <adaptyst/options.hpp>; the environment variable ADAPTYST, a text of the same form, overrides both. docs/options.md
// and `adaptyst help options` list them:
//
//   ADAPTYST=engine=inline,output=profile-%r.json;run.trace.json ./simulate
//
// Nothing here throws, and nothing stops the program. An unknown option is reported on standard error, with the most
// similar known name, and ignored. If permissions are missing, the message says what to do, and the program runs on
// without being observed. One collector at a time; a second one is refused, and one in a program that `adaptyst run`
// observes says in one line that it leaves the report to `adaptyst run`.
//
// At exit() a collector that still runs is stopped, by the thread that has called it; regions that are still open are
// reported as open. _exit(), quick_exit(), abort() and signals do not stop it (but see keep= and docs/killed.md). A
// child that was forked never reports what its parent has collected. exit() must not be called in a signal handler
// then.
//
// Processes with the same output= do not overwrite each other's files: each rank gets a name of its own, and so does a
// process that finds the name in use. The name of each written file is reported.
//
// Cost: tens of milliseconds at start and stop for ebpf, a few for inline; between them, what the events cost
// (docs/overhead.md, docs/function-probes.md). The heap, signals, errno and the locale of the program stay as they are;
// no thread is left running. Threads and descriptors that it has meanwhile: docs/limitations.md.
#ifndef ADAPTYST_COLLECTOR_HPP
#define ADAPTYST_COLLECTOR_HPP

#include <memory>
#include <string_view>

#include "detail/config.hpp"

namespace adaptyst { inline namespace v1 {

class error;     // include <adaptyst/profile.hpp> to read it
struct options;  // include <adaptyst/options.hpp> to make one
struct profile;  // include <adaptyst/profile.hpp> to call snapshot() or stop()

class collector {
 public:
  explicit collector(std::string_view options = {}) noexcept;
  explicit collector(const options& options) noexcept;
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  // All that has ended so far; the program need not pause. Empty when nothing is collected. Thread-safe.
  profile snapshot() const noexcept;

  // Ends the collection, reports, and returns the profile; further calls return it again. Thread-safe.
  profile stop() noexcept;

  // Why this collects nothing, or who collects instead; null while it does collect.
  const adaptyst::error* error() const noexcept;

 private:
  friend class rank_collector;
  struct chosen;  // options, with $ADAPTYST applied
  explicit collector(const chosen& options) noexcept;

  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
