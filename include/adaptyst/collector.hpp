// Collects what the markers of this process tell, from the constructor to stop().
//
//   int main() {
//     adaptyst::collector collector;
//     simulate();
//   }                               // prints the report; so does exit(), wherever it is called
//
// Link with adaptyst::collector. Options are text, key=value pairs joined by commas, or the struct of
// <adaptyst/options.hpp>; the environment variable ADAPTYST, the same text, goes before both. docs/options.md and
// `adaptyst help options` list them:
//
//   ADAPTYST=engine=inline,output=profile-%r.json;run.trace.json ./simulate
//
// Nothing here throws, and nothing stops the program. What is unknown among the options is told on standard error, with
// the nearest that is known, and left out; where permissions are missing, it is told what to do, and the program runs
// on, uncollected. One collector at a time; a second one is refused, and one in a program that `adaptyst run` observes
// says in a line that it leaves the report to that.
//
// At exit() a collector that still runs is stopped, by the thread that has called it; regions that are open then are
// told as open. Not by _exit(), quick_exit(), abort() or a signal (but see keep= and docs/killed.md). A child that was
// forked never reports what its parent has collected. As all of what exit() calls, it is not to be called in a signal
// handler.
//
// Processes that are told the same output= do not replace each other's: ranks get names of their own, and so do other
// processes while one has the name. Which file was written is told.
//
// Cost: tens of milliseconds at start and stop for ebpf, a few for inline; between them, what the events cost
// (docs/overhead.md, docs/function-probes.md). The heap, signals, errno and the locale of the program stay as they are;
// no thread is left running. Threads and descriptors that it has meanwhile: docs/limitations.md.
#ifndef ADAPTYST_COLLECTOR_HPP
#define ADAPTYST_COLLECTOR_HPP

#include <memory>
#include <string_view>

#include "error.hpp"
#include "options.hpp"
#include "profile.hpp"

namespace adaptyst { inline namespace v1 {

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

  // Why nothing is collected, or who does it instead; null while something is.
  const adaptyst::error* error() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
