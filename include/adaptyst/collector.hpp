// Collects what the markers of this process tell, from the constructor to stop().
//
//   int main() {
//     adaptyst::collector collector;
//     simulate();
//   }                               // prints the report
//
// Link with adaptyst::collector. Options are one string of key=value pairs joined by commas, from the argument and then,
// overriding it, from the environment variable ADAPTYST:
//
//   engine=auto|ebpf|inline|off    auto: ebpf where it is permitted, else inline, and one line says which and why
//   report=table|none              the table goes to standard error
//   output=FILE.json               the profile. %p: pid, %r: MPI rank, %h: host
//   output=FILE.trace.json         a timeline for Perfetto or chrome://tracing; both: output=FILE.json;FILE.trace.json
//   trace_events=65536             for the timeline: events that a thread may be ahead of the file (32 bytes each, 64 to
//                                  16,777,216); what is more is counted as lost, and in the profile all the same
//   functions=FILE:PATTERN;SET…    regions from functions that carry no markers; needs ebpf. In files that are loaded when
//                                  the collector starts, or else found where the loader would look for them. Sets: mpi,
//                                  opencl, cuda, hip, openmp, blas, io, malloc
//   through_exceptions=no|yes      also functions of C++; a program that throws through one is then terminated
//   single_stepped=no|yes          also functions whose entry takes a second trap, 19 us a call in a virtual machine
//
// Nothing here throws, and nothing stops the program: bad options and missing permissions are told on standard error
// with what to do about them, and the program runs on, uncollected. One collector at a time; a second one is refused.
//
// Cost: tens of milliseconds at start and stop for ebpf, a few for inline; between them, what the events cost
// (docs/overhead.md, docs/function-probes.md). No thread is left running; with a timeline, one writes the file meanwhile.
#ifndef ADAPTYST_COLLECTOR_HPP
#define ADAPTYST_COLLECTOR_HPP

#include <memory>
#include <string_view>

#include "error.hpp"
#include "profile.hpp"

namespace adaptyst { inline namespace v1 {

class collector {
 public:
  explicit collector(std::string_view options = {}) noexcept;
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  // All that has ended so far; the program need not pause. Empty when nothing is collected. Thread-safe.
  profile snapshot() const noexcept;

  // Ends the collection, reports, and returns the profile; further calls return it again. Thread-safe.
  profile stop() noexcept;

  // Why nothing is collected; null while something is.
  const adaptyst::error* error() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
