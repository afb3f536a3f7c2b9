// The life of a session, on this process or on others:
//
//   options → source → clock → costs → timeline → context → targets → budget      start(), begin(), announce()
//   discover → adopt → read → assemble                                            read_all(): snapshot(), changes(), poll()
//   → report, files                                                               stop()
//
// Sessions differ in the memory that they read (target.hpp), in the source of rows (source.hpp), and in the source of
// announcements: the loader's hook (collector.cpp), or a socket and the mapped files (observer.cpp).
#ifndef ADAPTYST_LIB_SESSION_SESSION_HPP
#define ADAPTYST_LIB_SESSION_SESSION_HPP

#include <sys/types.h>

#include <adaptyst/profile.hpp>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../recorder/clock_line.hpp"
#include "../report/foreign_forms.hpp"
#include "../support/error.hpp"
#include "../support/options.hpp"
#include "../support/threads.hpp"
#include "../symbolise/construct_names.hpp"
#include "../trace/timeline_file.hpp"
#include "assembly.hpp"
#include "output_names.hpp"
#include "own_process.hpp"
#include "source.hpp"
#include "target.hpp"
#include "thread_context.hpp"
#include "timeline.hpp"

namespace adaptyst::lib {

// Not thread-safe, except where noted. An exception caused by the data of one process ends only the observation of that
// process.
class session {
 public:
  // Begins to observe this process. `before`: an earlier reading of the clocks. Throws error.
  session(options options, clock_pair before, std::unique_ptr<own_process> own);
  // Begins to observe other processes, which are added later. `only`: the one process that will be added; 0: not known.
  // Throws error, also if an output cannot be written. `opener`: opens the timeline that the options request.
  session(options options, clock_pair before, pid_t only, timeline_opener opener = open_timeline_file);

  const options& chosen_options() const { return options_; }
  const claim_terms& terms() const { return terms_; }
  bool is_in_kernel() const { return source_->is_in_kernel(); }
  bool probes_functions() const { return probes_functions_; }
  // See thread_context.
  std::string sample_file() const { return context_ ? context_->sample_file() : std::string(); }
  // The longest time between two calls of poll(): rings fill in milliseconds.
  double seconds_between_polls(double seconds) const;
  // For an observer of other processes. Opens and closes windows of page faults if that is due. Returns when the next call is
  // due, on the monotonic clock; 0: there are no windows. in_turn() and in_shares() call it after each process.
  std::uint64_t keep_windows() noexcept;
  // The capabilities that the session needs from here on.
  std::vector<unsigned> capabilities() const;

  // For this process: adopts ELF objects with markers that have been loaded. Thread-safe, until stop().
  void adopt_own_objects();

  // Adds a process to the profile.
  void add(std::unique_ptr<target> target);
  // For a process without markers: samples its stacks from now on, or from the program that it is about to run. False:
  // that is not possible.
  bool sample_unmarked(target& target, bool is_starting = false);
  // For a process that will soon start: samples its stacks from its first instruction on.
  void expect(target& target);
  // For processes without markers: notes the mappings of these processes and of those that they have started, so that
  // functions can be named.
  void note_unmarked_mappings();
  // Notes adapters for the profile.
  void note_adapters(const std::map<std::string, std::string>& loaded,
                     const std::map<std::string, std::string>& skipped) {
    adapters_ = loaded;
    skipped_adapters_ = skipped;
  }
  // Takes over a running process. Throws error; then forget() undoes the call.
  void begin(target& target, const std::vector<process_object>& objects);
  // For a process that announces one of its objects, or all after a fork. Returns whether the kernel counts at its
  // probes; else the process keeps its recorder enabled. Throws error.
  bool announce(target& target, const std::vector<process_object>& objects, std::uint64_t control_block, bool all);
  // Counts a program that could not be taken over, with the reason.
  void count_refused(const std::string& why);
  // The same for objects that cannot be enabled; each is reported once.
  void count_refused(pid_t process, const std::vector<foreign_object>& objects);
  // Reads a process that will soon lose data.
  void poll_target(target& target);
  // Removes the most recently added process.
  void forget();
  // See source::probe(). Returns the functions that cannot be probed, a line for each reason.
  std::vector<error> probe_functions(pid_t process, const std::vector<std::string>* command);

  // Reads what would be lost if a process died now, for as many processes as 0.1 s permits.
  void poll();
  // Moves markers from step to step. Thread-safe.
  void keep_budget();
  // Adds points to the series of resident memory. For observers of other processes.
  void follow_memory();
  std::size_t running() const;

  // The profile of everything that has ended so far; after stop(), the final profile.
  profile snapshot();
  // The final profile, without a copy; once, after stop().
  profile take() noexcept { return std::move(result_); }
  // The same, with only those regions that have counted an event since the last call.
  profile changes();
  // Writes the file of the form `prometheus` as of now. After a failure, which is reported, it is written only at the end.
  void write_metrics();
  // Processes that have run a region.
  std::vector<std::int64_t> find_processes(std::uint64_t region) const;
  // Ends the session, once, and reports. Throws error if a file cannot be written.
  void stop();
  // For threads of this process that find symbols, or read and make results, as of now.
  heap_room room() const noexcept;

 private:
  enum class phase { starting, running, ended };

  void watch_own_memory();
  void start(clock_pair before);
  void start_with(std::unique_ptr<source> chosen, clock_pair before);
  void open_timeline();
  void run_separately(const std::function<void()>& work) const;
  void listen_to_own();
  void start_own();
  std::uint64_t keep_windows(std::uint64_t longest_wait_ns) noexcept;
  bool keeps_budget() const;
  void give_budget(target& target);
  void prepare(const target& target, const std::vector<process_object>& objects);
  void note_mappings(const target& target);
  std::vector<process_object> discover(target& target) const;
  void adopt(target& target, const process_object& object);
  bool listen_to(target& target, const process_object& object);
  bool is_present(pid_t process) const;
  template <class Work>
  void guard(target& target, Work&& work) noexcept;
  template <class Work>
  void in_turn(std::size_t& next, std::uint64_t end_ns, Work&& work) noexcept;
  // Calls work(target, share) for all targets, each with a fair share of the remaining time; 0: no time is left.
  template <class Work>
  void in_shares(const std::vector<target*>& all, std::uint64_t end_ns, Work&& work) noexcept;
  // poll: reads only data that a process would lose if it died now; makes no profile. changes: the regions that have
  // counted an event. Both read as many processes as time permits; a snapshot and a report read all.
  enum class purpose { poll, changes, snapshot, report };
  profile read_all(purpose why, std::uint64_t longest_ns);
  // Calls step(target) for as many processes as time permits.
  template <class Step>
  void in_time(purpose why, std::uint64_t end_ns, Step&& step);
  void read(target& target, purpose why);
  void settle_ended();
  void complete(profile& made, purpose why);
  void complete_budget(profile& made);
  void drain(target& target) noexcept;
  void finish_timeline();
  void stop_observing();

  const options options_;
  const timeline_opener open_file_;
  output_names names_;
  construct_names constructs_;
  const subject whose_;
  phase phase_ = phase::starting;
  std::string reason_;  // why this source is used
  std::unique_ptr<source> source_;
  std::unique_ptr<thread_context> context_;  // null: without context
  bool probes_functions_ = false;
  std::map<std::string, std::string> not_probed_;                   // of the profile
  std::map<std::string, std::string> adapters_, skipped_adapters_;  // of the profile
  claim_terms terms_;
  event_costs costs_;
  std::optional<timeline> timeline_;  // empty: not requested
  process_list processes_;            // including ended ones
  std::vector<target*> targets_;      // including ended ones
  own_process* own_ = nullptr;        // the only target; null: the session belongs to an observer
  process_sums recorded_;
  assembly assembly_;
  std::unordered_map<std::uint64_t, std::uint64_t> reported_;  // by changes(): events of each path
  std::uint64_t polled_ns_ = 0, mapped_ns_ = 0;
  // The next target, if time does not permit all.
  std::size_t next_drained_ = 0, next_mapped_ = 0, next_polled_ = 0, next_kept_ = 0, next_followed_ = 0;
  bool has_seen_markers_ = false;   // of programs and their libraries
  bool has_seen_adapters_ = false;  // which make regions of calls
  bool has_failed_windows_ = false;
  bool follows_children_ = false;  // of programs without markers
  std::set<pid_t> unmarked_;       // these children
  profile result_;
  std::mutex budget_mutex_;  // of the targets' budgets
  // Protected by the same lock: share of CPU time that context and samples have cost recently, and the sums behind it.
  double context_share_ = 0, shared_cpu_ns_ = 0, shared_cost_ns_ = 0;
  refused_programs refused_;
  std::set<std::pair<pid_t, std::string>> foreign_;
  std::set<std::string> without_probes_;   // reason for each ELF file without probes
  std::atomic<bool> records_some_{false};  // the program records such a file, though the kernel counts others
  double recorded_ns_ = 0;                 // estimated CPU time for an entry in a ring
  std::atomic<double> written_ns_ = 0;     // program's CPU time for one event in the file; 0: unknown, or none
  std::mutex draining_mutex_;              // of the work of draining_, and of a context with scopes
  std::unique_ptr<periodic> draining_;     // for own rings; others are polled
  std::unique_ptr<periodic> keeping_;      // for own budget
  bool has_failed_metrics_ = false;
  metrics_regions listed_;  // in the file of metrics, since the first write
};

}  // namespace adaptyst::lib

#endif
