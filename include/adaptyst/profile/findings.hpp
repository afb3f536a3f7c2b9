// Findings: slow parts of a run, with their place and a recommendation.
//
//   for (const adaptyst::finding& f : adaptyst::analyse(profile))
//     std::cout << adaptyst::to_string(f.kind) << ", " << f.share * 100 << " % of the run: try "
//               << adaptyst::to_string(f.next) << '\n';
//
// A finding follows from the profile alone, by a formula and a threshold (docs/findings.md). No finding does not mean
// that nothing is slow. The first four kinds need the kernel's context; starved_device, exposed_copies and launch_bound
// a device with operations; rank_imbalance to late_rank a profile of several ranks; the last two memory=heap.
#ifndef ADAPTYST_PROFILE_FINDINGS_HPP
#define ADAPTYST_PROFILE_FINDINGS_HPP

#include "../profile.hpp"

namespace adaptyst { inline namespace v1 {

// Files use these names.
enum class finding_kind {
  lock_wait,         // threads are blocked on a futex: a lock, a barrier, another thread
  core_wait,         // threads are runnable without a core
  io_wait,           // threads are blocked on files, sockets or their events
  page_faults,       // memory is repeatedly touched for the first time, or read back from a disk
  thread_imbalance,  // some threads have more work than others
  long_tail,         // a region sometimes takes much longer than its median
  fine_markers,      // regions are so short that overhead is a large share of their time
  starved_device,    // a device is idle, and nothing is submitted
  exposed_copies,    // a device copies while no kernel runs
  launch_bound,      // kernels are as short as their launch
  rank_imbalance,    // some ranks of an MPI program take longer than others
  slow_rank,         // one rank takes much longer than all others
  slow_node,         // all ranks of one node take longer
  late_rank,         // ranks wait for the last rank in a collective call of MPI
  heap_churn,        // blocks are allocated and freed all the time
  heap_growth,       // each call leaves live blocks
};

enum class finding_unit { fraction, ns, per_second, bytes };

// The recommendation.
enum class next_step {
  hold_locks_shorter,
  use_fewer_threads,     // this program alone fills the cores
  free_the_cores,        // used by others: programs, ranks on the same machine, a quota
  do_larger_io,          // or overlapped with work
  reuse_memory,          // or use larger pages
  need_less_memory,      // than the machine has
  even_out_work,         // among threads
  inspect_slow_events,   // with a timeline
  mark_larger_regions,   // or permit more overhead
  reduce_kernel_data,    // fewer samples, less context
  submit_earlier,        // before the host waits, or from another thread
  overlap_copies,        // with kernels, in a second queue
  launch_fewer_kernels,  // larger kernels
  even_out_ranks,        // distribute work differently among ranks
  inspect_node,          // find how it differs
  free_memory,           // or bound what is kept
};

// One slow thing in one place.
struct finding {
  finding_kind kind = finding_kind::lock_wait;
  std::vector<std::string> path;  // of the worst region; empty: a device, or the whole run
  std::uint64_t region = 0;       // its id, 0 if there is none
  std::uint32_t device = 0;       // index into profile::devices, 0: the host
  // For the kinds of ranks: the slowest rank (empty for a node, or if it changes), and its host (empty if unknown).
  std::optional<std::uint32_t> rank;
  std::string host;
  // Path of the region in which a late rank exceeds the mean time most.
  std::vector<std::string> late_in;
  // time_ns over the run's duration. For all threads together, like the shares of regions: it may exceed 1. For a
  // device: over its observed time. For heap_growth: live bytes over the high-water mark.
  double share = 0;
  double time_ns = 0;
  std::optional<double> error_ns;  // standard error of time_ns; empty if exact
  // The known share of the threads' time; empty: all is known.
  std::optional<double> known_part;
  std::uint64_t count = 0;  // waits, faults, threads, events or operations behind it
  // The measured value, and its reference: a threshold, or the usual value in this place.
  finding_unit unit = finding_unit::fraction;
  double value = 0, against = 0;
  next_step next = next_step::hold_locks_shorter;
};

// Names in files: "lock_wait", "per_second", "overlap_copies".
const char* to_string(finding_kind kind);
const char* to_string(finding_unit unit);
const char* to_string(next_step step);

// By share of the run, largest first; deterministic.
std::vector<finding> analyse(const profile& profile);

}}  // namespace adaptyst::v1

#endif
