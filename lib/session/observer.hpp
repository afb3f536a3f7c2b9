// Collects what the markers of other processes tell: of running ones, and of programs that are started for the purpose.
//
//   adaptyst::observer observer("engine=auto,report=none");
//   observer.attach(pid);
//   observer.run(1, {}, […] { … });      // or poll(), about once a second
//   adaptyst::profile p = observer.stop();
//
// The command `adaptyst` is made of it. It is not public: this header is not installed. Options are those of the
// collector (<adaptyst/options.hpp>), without $ADAPTYST.
//
//   ebpf    as for a collector, and for any number of processes: rows are in the kernel, and survive the program
//   inline  the program's own recorder is woken and read, with the rights that ptrace asks for; of a program that is
//           killed, what happened since the last poll() is lost
//
// An observer that dies leaves no harm: the kernel takes its probes away; recorders that it has woken go on recording,
// which costs time, until the next observer. Functions throw adaptyst::error, which says what failed, why, and what to
// do. Not thread-safe.
#ifndef ADAPTYST_LIB_SESSION_OBSERVER_HPP
#define ADAPTYST_LIB_SESSION_OBSERVER_HPP

#include <adaptyst/detail/error.hpp>
#include <adaptyst/options.hpp>
#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../trace/timeline_file.hpp"

namespace adaptyst { inline namespace v1 {

class observer {
 public:
  // `only`: the one process that will be observed, so that the kernel need not even look at others; 0: not known.
  // `opener`: opens the timeline that the options ask for.
  explicit observer(std::string_view options, std::int64_t only = 0);
  explicit observer(const options& options, std::int64_t only = 0,
                    lib::timeline_opener opener = lib::open_timeline_file);
  ~observer();
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  // Observes a running process from now on; regions that are open already are not counted. Of a process without markers
  // the functions are sampled, where that is permitted.
  void attach(std::int64_t process);

  // A program that is about to be started in this process, which has one thread: even if it has no markers, it belongs
  // to the profile. `command`: its name and arguments.
  void expect(std::int64_t process, const std::vector<std::string>& command);

  // Makes regions of the functions that the option `functions` names, in one process; in one that is expected, also in
  // all that it starts. Needs engine=ebpf. Returns what was named and cannot be, with the reason.
  std::vector<error> probe_functions(std::int64_t process);

  // For programs to be started: what their environment variable ADAPTYST_OBSERVER must be. They and their children then
  // tell when they load an ELF object with markers, fork or end, and are observed from their first region on.
  const std::string& socket() const noexcept;
  // Becomes readable when a program waits for handle().
  int descriptor() const noexcept;
  void handle();

  // Gives up every capability that observing does not need from here on: those for eBPF, and for looking into processes
  // and files of others, are kept if they are there. For this thread and those that it starts: not before a program has
  // been started that is to have them.
  void drop_capabilities();

  // Observes until `go_on` returns nothing: answers programs, reads what would be lost if a process died, names functions
  // of programs without markers, and keeps the overhead budget. Each step is short, and `go_on` is called between them:
  // it returns after how many milliseconds it is to be called again, at the latest. It is also called when one of the
  // descriptors `wakers` becomes readable. `seconds`: the time between two readings; with a timeline rings are read
  // every few milliseconds.
  void run(double seconds, const std::vector<int>& wakers, const std::function<std::optional<int>()>& go_on);

  // The steps of run(), for a caller with a loop of its own. Reads what would be lost if a process died now; cheap where
  // little has changed.
  void poll();

  // How many of the observed processes are still there.
  std::size_t running() const;
  // All that has ended so far.
  profile snapshot();
  // The same, but of the regions only those that have counted anything since the last call: cheap where little happens,
  // however many regions there are.
  profile changes();
  // Which processes have run a region, by its id, as the last look found them.
  std::vector<std::int64_t> find_processes(std::uint64_t region) const;
  // Ends the observation, reports as the options say, and returns the profile; further calls return it again.
  profile stop();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
