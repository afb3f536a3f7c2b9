// What to look at first: what a profile's numbers say is slow, where, and what to try.
//
//   for (const adaptyst::finding& f : adaptyst::analyse(profile))
//     std::cout << adaptyst::to_string(f.kind) << ", " << f.share * 100 << " % of the run: try "
//               << adaptyst::to_string(f.next) << '\n';
//
// Each follows from the profile alone, by a formula and a threshold (docs/findings.md): no finding means that none of
// these was seen, which is not to say that nothing is slow. What was not recorded cannot be found: the first four need
// the kernel's context, starved_device, exposed_copies and launch_bound a device that tells of its operations, the last
// four a profile of several ranks.
#ifndef ADAPTYST_PROFILE_FINDINGS_HPP
#define ADAPTYST_PROFILE_FINDINGS_HPP

#include "../profile.hpp"

namespace adaptyst { inline namespace v1 {

// Files call them by these names.
enum class finding_kind {
  lock_wait,         // threads are blocked on a futex: a lock, a barrier, another thread
  core_wait,         // threads could run, and there is no core for them
  io_wait,           // threads are blocked on files, sockets or their events
  page_faults,       // memory is touched for the first time again and again, or read back from a disk
  thread_imbalance,  // some threads have more to do than others
  long_tail,         // a region takes much longer than its own median, now and then
  fine_markers,      // regions are so short that observing them is much of what is seen
  starved_device,    // a device is idle, and nothing has been submitted
  exposed_copies,    // a device copies while no kernel runs
  launch_bound,      // kernels are as short as it takes to launch them
  rank_imbalance,    // some ranks of an MPI program take longer than others
  slow_rank,         // one rank takes much longer than all others
  slow_node,         // all ranks of one node do
  late_rank,         // in a collective call of MPI, ranks wait for the last of them
};

enum class finding_unit { fraction, ns, per_second };

// What to try.
enum class next_step {
  hold_locks_shorter,
  use_fewer_threads,     // this program fills the cores by itself
  free_the_cores,        // others have them: programs, ranks on the same machine, a quota
  do_larger_io,          // or at the same time as work
  reuse_memory,          // or take larger pages
  need_less_memory,      // than the machine has
  even_out_work,         // among threads
  look_at_slow_events,   // with a timeline
  mark_larger_regions,   // or allow observing to cost more
  ask_kernel_for_less,   // fewer samples, less context
  submit_earlier,        // before the host waits, or from another thread
  overlap_copies,        // with kernels, in a second queue
  launch_fewer_kernels,  // larger ones
  even_out_ranks,        // share the work out otherwise among them
  look_at_node,          // what is different there
};

// One thing that is slow, in one place.
struct finding {
  finding_kind kind = finding_kind::lock_wait;
  std::vector<std::string> path;  // of a region, where it is worst; empty: a device, or the whole run
  std::uint64_t region = 0;       // its id, 0 where there is none
  std::uint32_t device = 0;       // an index into profile::devices, 0: the host
  // Of the last four kinds: the slowest rank, empty for a node, or where it is another one each time; and where that is,
  // empty: not known.
  std::optional<std::uint32_t> rank;
  std::string host;
  std::vector<std::string> late_in;  // of a late rank: the path of the region in which it takes longest beyond the mean
  // How much of the run it concerns: time_ns over the run's duration. Of all threads together, as the shares of
  // regions, so that it may be above 1; of a device over the time for which that was looked at.
  double share = 0;
  double time_ns = 0;
  std::optional<double> error_ns;  // the standard error of time_ns; empty where it is exact
  // The share of the threads' time that is known; empty: all is known.
  std::optional<double> known_part;
  std::uint64_t count = 0;  // of waits, faults, threads, events, operations: on how many it rests
  // The value on which the finding rests, and what it was compared with: the threshold, or what is usual in this place.
  finding_unit unit = finding_unit::fraction;
  double value = 0, against = 0;
  next_step next = next_step::hold_locks_shorter;
};

// As files have them: "lock_wait", "per_second", "overlap_copies".
const char* to_string(finding_kind kind);
const char* to_string(finding_unit unit);
const char* to_string(next_step step);

// By their share of the run, the largest first; the same profile has the same findings in the same order.
std::vector<finding> analyse(const profile& profile);

}}  // namespace adaptyst::v1

#endif
