// Collects what the markers of other processes tell: of running ones, and of programs that are started for the purpose.
//
//   adaptyst::observer observer("engine=auto,report=none");
//   observer.attach(pid);
//   …                                    // poll(), about once a second
//   adaptyst::profile p = observer.stop();
//
// It is what the command `adaptyst` is made of. Options are those of the collector (<adaptyst/collector.hpp>).
//
//   ebpf    as for a collector, and for any number of processes: rows are in the kernel, and survive the program
//   inline  the program's own recorder is woken and read, with the rights that ptrace asks for; of a program that is
//           killed, what happened since the last poll() is lost
//
// An observer that dies leaves no harm: the kernel takes its probes away; recorders that it woke run on, at their price,
// until the next observer. Functions throw std::runtime_error, which says what failed, why, and what to do. Not
// thread-safe.
#ifndef ADAPTYST_OBSERVER_HPP
#define ADAPTYST_OBSERVER_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profile.hpp"

namespace adaptyst { inline namespace v1 {

class observer {
 public:
  // `only`: the one process that will be observed, so that the kernel need not even look at others; 0: not known.
  explicit observer(std::string_view options, std::int64_t only = 0);
  ~observer();
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  // Observes a running process from now on; regions that are open belong to nobody.
  void attach(std::int64_t process);

  // A program that is about to be started in this process: even if it has no markers, it belongs to the profile.
  void expect(std::int64_t process, std::string_view command);

  // Makes regions of functions that carry no markers, from entry and return, in one process: "FILE:PATTERN" each, or
  // the name of a ready set (docs/function-probes.md). FILE is a path, or the beginning of a library's name. Needs
  // engine=ebpf. Returns what was named and cannot be, with the reason. `through_exceptions`: also C++ functions, which
  // ends a program that throws through one.
  std::vector<std::string> probe_functions(const std::vector<std::string>& named, std::int64_t process,
                                           bool through_exceptions = false);

  // For programs to be started: what their environment variable ADAPTYST_OBSERVER must be. They and their children then
  // tell when they load an ELF object with markers, fork or end, and are observed from their first region on.
  const std::string& socket() const noexcept;
  // Readable when a program waits for handle().
  int descriptor() const noexcept;
  void handle();

  // Reads what is lost if a process dies now. Cheap where little has changed.
  void poll();

  // How many of the observed processes are still there.
  std::size_t running() const;
  // All that has ended so far.
  profile snapshot();
  // The same, but of the regions only those that have counted anything since the last call: cheap where little happens,
  // however many regions there are.
  profile changes();
  // Ends the observation, reports as the options say, and returns the profile; further calls return it again.
  profile stop();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
