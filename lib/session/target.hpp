// One process of a session. A `recorded_process` is read: rows, devices, open regions, metadata. A `target` is
// controlled as well: its markers are enabled, its events go to the timeline, and its overhead budget is kept. The
// subclasses own_process and observed_process differ in the memory and in how markers are enabled; kept_process is only
// read.
#ifndef ADAPTYST_LIB_SESSION_TARGET_HPP
#define ADAPTYST_LIB_SESSION_TARGET_HPP

#include <sys/types.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../discover/process_objects.hpp"
#include "../recorder/device_reader.hpp"
#include "../recorder/metadata_reader.hpp"
#include "../recorder/open_regions.hpp"
#include "../recorder/recorder_reader.hpp"
#include "../support/process_stat.hpp"
#include "budget_keeper.hpp"
#include "resident_series.hpp"
#include "thread_times.hpp"
#include "timeline.hpp"
#include "unread_end.hpp"

namespace adaptyst::lib {

// The terms on which a process's recorders are taken over.
struct claim_terms {
  detail::clock_line clock{};
  std::uint64_t trace_entries = 0;  // of each thread's ring for a timeline; 0: no timeline
  detail::level_settings levels{};  // which markers are recorded
  bool by_probes = false;           // the kernel counts: recorders that cannot be taken over are not needed
};

class recorded_process {
 public:
  explicit recorded_process(pid_t process);
  virtual ~recorded_process() = default;
  recorded_process(const recorded_process&) = delete;
  recorded_process& operator=(const recorded_process&) = delete;

  pid_t id() const noexcept { return id_; }
  const std::string& command() const noexcept { return command_; }
  const std::vector<std::string>& arguments() const noexcept { return arguments_; }
  std::optional<std::uint32_t> rank() const noexcept { return rank_; }
  virtual bool is_running() const = 0;

  // From now on, each read includes the resident memory.
  void watch_memory() noexcept { watches_memory_ = true; }
  // Between these reads: reads the resident memory if its series has a point due.
  void follow_memory();
  // Lets the observed time begin now instead of at construction.
  void start_now();
  // Reads the recorders, if the process still exists; and, if `also_open`, the open regions.
  virtual void poll(bool also_open);
  // Longest time for one read of the recorders of another process. The next read continues with the rest.
  void limit_poll(std::uint64_t max_ns) noexcept { reader_.limit(max_ns); }
  // Whether the last read of the recorders ended because its time was over.
  bool was_late() const noexcept { return reader_.was_late(); }
  // Instead of a read without time for it: counts a loss.
  void leave_unread() { reader_.note_late(); }
  // Total time of its reads so far.
  std::uint64_t read_for_ns() const noexcept { return read_for_ns_; }
  // Whether its recorders can still be read after its end: until then, note_time() is enough.
  virtual bool outlives() const noexcept { return false; }
  // Reads what can only be read while the process exists.
  virtual void note_time();
  const measurements& recorded() const noexcept { return reader_.result(); }
  path_set take_changed() { return reader_.take_changed(); }  // see recorder_reader
  // See recorder_reader.
  virtual unannounced_threads find_unannounced(const announced_recorders& announced) const {
    return reader_.find_unannounced(id_, announced);
  }
  const device_list& devices() const noexcept { return devices_; }
  const open_region_counts& open_regions() const noexcept { return open_; }
  const program_metadata& metadata() const noexcept { return metadata_; }
  virtual process_info info() const;
  // Adds an estimate of the content of its recorders at its end, if it did not announce its end.
  virtual void account_for_end(account&) const {}
  // CPU time used since the observation began, as of the last read.
  std::uint64_t used_cpu_ns() const noexcept { return used_cpu_ns_; }

 protected:
  const pid_t id_;
  unread_end unread_{0};

  // The process state, if its recorders can be read now; empty: the process does not exist any more.
  virtual std::optional<process_state> reach() = 0;
  // A point in time: CLOCK_MONOTONIC, and the CPU time used until then.
  struct moment {
    std::uint64_t ns, cpu_ns;
  };
  virtual moment now() const;
  // When its end was observed; 0: it has not ended.
  virtual std::uint64_t ended_ns() const noexcept { return 0; }
  // `has_cpu_time`: its CPU time can still be read.
  void note_end(std::optional<std::uint32_t> signal, bool has_cpu_time) const;
  // Whether /proc has an entry for it.
  virtual bool is_in_proc() const { return is_running(); }
  // For a process that was observed in the past, from `started_ns` on.
  void begin_at(std::uint64_t started_ns, std::time_t started_at, unsigned cpus);
  void set_command(std::string command, std::vector<std::string> arguments = {});
  // Takes the innermost open regions from the store that the process has left.
  void take_last_regions(const process_state& state, std::uint64_t ended_ns);
  std::uint64_t started_ns() const noexcept { return started_ns_; }
  std::uint64_t observed_ns() const noexcept { return observed_ns_; }
  // The part of this CPU time since the observation began.
  std::uint64_t cpu_since_start(std::uint64_t cpu_ns) const noexcept {
    return cpu_ns - std::min(cpu_ns, started_cpu_ns_);
  }

 private:
  void read_all(bool also_open);
  void note_length(std::uint64_t now_ns);
  void note_host();
  void note_memory(std::uint64_t now_ns);

  std::string command_;
  std::vector<std::string> arguments_;
  std::optional<std::uint32_t> rank_;
  unsigned cpus_;
  std::uint64_t started_ns_ = 0;
  std::time_t started_at_ = 0;
  std::uint64_t started_cpu_ns_ = 0;
  mutable std::uint64_t used_cpu_ns_ = 0;        // at its last read; 0: not known
  mutable std::optional<std::uint32_t> signal_;  // that ended the process
  std::uint64_t observed_ns_ = 0;
  std::uint64_t read_for_ns_ = 0;
  recorder_reader reader_;
  device_list devices_;
  open_region_counts open_;
  foreign_bytes open_bytes_;
  program_metadata metadata_;
  std::vector<last_region> ended_in_;
  std::optional<std::int64_t> parent_;
  thread_times thread_times_;
  bool watches_memory_ = false;
  resident_memory resident_;  // at its last read
  resident_series resident_series_;
  std::string resident_program_;  // of the series
};

class target : public recorded_process {
 public:
  using recorded_process::recorded_process;

  // The address of the state that all its markers share; 0: not known yet.
  virtual std::uint64_t state() const noexcept = 0;
  // False until a marker has been found.
  virtual bool has_markers() const noexcept { return true; }
  // Notes that its end has been handled.
  void settle() noexcept { settled_ = true; }
  bool is_settled() const noexcept { return settled_; }

  // Takes the recorders over, and begins an epoch. Throws error if another observer has them, or if it is not
  // permitted.
  virtual void claim(const claim_terms& terms) = 0;
  // Enables the markers: from now on, the program's own recorder records them.
  virtual void enable() = 0;
  // The same, for one ELF object without probes that the kernel counts; false: the kernel counts them again.
  virtual void record(std::uint64_t control_block, bool wanted) = 0;
  // Counts the process as ended: its memory has changed, or must not be read any more.
  virtual void retire() noexcept {}
  // Retires the process because its data or its read cannot be handled. Complains, and counts it among the refused
  // programs.
  void give_up(const char* why) noexcept;
  bool is_given_up() const noexcept { return !given_up_.empty(); }
  void account_for_end(account& in) const override;
  // Undoes claim(), enable() and record().
  virtual void release() noexcept = 0;
  // All ELF objects of the process, if it has loaded any since the last call and does not announce them itself.
  virtual std::vector<process_object> changed_objects() { return {}; }

  // Before and after a read that the process has requested. False: such reads have taken more than 0.1 s and a tenth of
  // the time since; then its end does not count as announced.
  bool begin_poll() noexcept;
  void end_poll() noexcept;
  // Moves the events of its threads to the timeline, if the process still exists.
  // Returns the number of events.
  std::uint64_t trace_to(timeline& to);
  // Whether the last read of its rings left events.
  bool has_events_left() const noexcept { return has_events_left_; }
  // The number of such reads since the process ended.
  unsigned count_last_drain() noexcept { return last_drains_++; }
  // Called when the process has ended and everything has been read.
  virtual void read_out() noexcept {}

  // Gives the process an overhead budget.
  void keep_within(const budget_rules& rules) { budget_.emplace(rules); }
  // Keeps the budget, if there is one. Returns whether it was time for a refresh. `context_share`: see budget_input.
  bool keep_budget(double context_share, double traced_ns);
  // CPU time used at the last refresh.
  std::uint64_t budgeted_cpu_ns() const noexcept { return budgeted_cpu_ns_; }
  // Time that the marker of a path spent on each step; empty if there is no budget, or no such path.
  std::map<budget_step, std::uint64_t> find_steps(std::uint64_t path) const;

 protected:
  bool has_refused_poll() const noexcept { return has_refused_poll_; }
  bool has_budget() const noexcept { return budget_.has_value(); }
  // Puts all markers back on the step of the engine.
  void release_budget(const process_state& state);

 private:
  bool settled_ = false;
  std::string given_up_;  // the reason
  bool has_refused_poll_ = false, has_no_known_clock_ = false, has_events_left_ = false;
  std::uint64_t poll_begun_ns_ = 0, polls_ns_ = 0;  // see begin_poll()
  unsigned last_drains_ = 0;
  std::optional<budget_keeper> budget_;
  std::uint64_t budgeted_cpu_ns_ = 0;
};

using process_list = std::vector<std::unique_ptr<recorded_process>>;

}  // namespace adaptyst::lib

#endif
