// Collects the events of other processes: running ones, and programs that are started for observation.
//
//   adaptyst::observer observer("engine=auto,report=none");
//   observer.attach(pid);
//   observer.run(1, {}, […] { … });      // or poll(), about once a second
//   adaptyst::profile p = observer.stop();
//
// The command `adaptyst` uses it. It is not public: this header is not installed. Options are those of the collector
// (<adaptyst/options.hpp>), without $ADAPTYST.
//
//   ebpf    as for a collector, and for any number of processes: rows are in the kernel, and outlive the program
//   inline  enables and reads the program's own recorder, with the rights that ptrace needs; if a program is killed,
//           its events since the last poll() are lost
//
// If an observer dies, the kernel removes its probes. Recorders that it has enabled go on recording, which costs time,
// until the next observer. Functions throw adaptyst::error: what failed, why, and what to do. Not thread-safe.
#ifndef ADAPTYST_LIB_SESSION_OBSERVER_HPP
#define ADAPTYST_LIB_SESSION_OBSERVER_HPP

#include <adaptyst/detail/error.hpp>
#include <adaptyst/options.hpp>
#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../trace/timeline_file.hpp"

namespace adaptyst { inline namespace v1 {

class observer {
 public:
  // `only`: the one process that will be observed, so that the kernel can ignore all others; 0: not known.
  // `opener`: opens the timeline that the options request.
  explicit observer(std::string_view options, std::int64_t only = 0);
  explicit observer(const options& options, std::int64_t only = 0,
                    lib::timeline_opener opener = lib::open_timeline_file);
  ~observer();
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  // Observes a running process from now on; regions that are already open are not counted. In a process without
  // markers, functions are sampled if that is permitted.
  void attach(std::int64_t process);

  // Adds a program that will start in this process, which has one thread, to the profile, even if it has no markers.
  // `command`: its name and arguments.
  void expect(std::int64_t process, const std::vector<std::string>& command);

  // Notes adapters for the profile: see profile::adapters.
  void note_adapters(const std::map<std::string, std::string>& loaded,
                     const std::map<std::string, std::string>& skipped);

  // Makes regions of the functions that the option `functions` names, in one process; in an expected process, also in
  // all that it starts. Needs engine=ebpf. Returns the functions that cannot be probed, with the reason.
  std::vector<error> probe_functions(std::int64_t process);

  // For programs to be started: the required value of their variable ADAPTYST_OBSERVER. They and their children then
  // announce when they load an ELF object with markers, fork or end, and are observed from their first region on.
  const std::string& socket() const noexcept;
  // With samples=timer, the value of their variable ADAPTYST_SAMPLES; they preload libadaptyst-timer.so. Otherwise empty.
  std::string sample_file() const;
  // Becomes readable when a program waits for handle().
  int descriptor() const noexcept;
  void handle();

  // Drops every capability that observation does not need from here on. Keeps those for eBPF, and for reading processes
  // and files of other users, if they are there. For this thread and those that it starts: call it after starting a
  // program that needs the capabilities.
  void drop_capabilities();

  // Observes until `go_on` returns nothing: answers programs, reads what would be lost if a process died, names
  // functions of programs without markers, and keeps the overhead budget. Each step is short, and `go_on` is called
  // between them. It returns the longest time in milliseconds to the next call. It is also called when one of the
  // descriptors `wakers` becomes readable. `seconds`: the time between two reads; for a timeline, rings are read every
  // few milliseconds.
  void run(double seconds, const std::vector<int>& wakers, const std::function<std::optional<int>()>& go_on);

  // The steps of run(), for a caller with a loop. Reads what would be lost if a process died now; cheap if little has
  // changed.
  void poll();

  // Number of observed processes that still run.
  std::size_t running() const;
  // The profile of everything that has ended so far.
  profile snapshot();
  // The same, but only with regions that have counted an event since the last call: cheap if little happens, for any
  // number of regions.
  profile changes();
  // Processes that have run a region, by its id, as of the last read.
  std::vector<std::int64_t> find_processes(std::uint64_t region) const;
  // Ends the observation, reports as requested by the options, and returns the profile; further calls return it again.
  profile stop();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
