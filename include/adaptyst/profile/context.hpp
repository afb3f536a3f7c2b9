// Threads as the kernel observed them: docs/context.md. Part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_CONTEXT_HPP
#define ADAPTYST_PROFILE_CONTEXT_HPP

#include <cstdint>
#include <optional>

#include "accounting.hpp"

namespace adaptyst { inline namespace v1 {

// Threads of a region as the kernel observed them, in ns, summed over threads. Times off the core are exact, because a
// waiting thread cannot leave its region, or estimates with a variance. Time on the core is the rest.
struct os_context {
  std::uint64_t wall_ns = 0;      // of ended regions; 0 if none has ended, or on a device
  std::uint64_t open = 0;         // regions still open, included in the values below
  std::uint64_t runnable_ns = 0;  // waiting for a core
  std::uint64_t sleep_ns = 0, lock_ns = 0, io_ns = 0, other_ns = 0;  // blocked: timers, futexes, files, other
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;    // to wait; while still runnable
  std::uint64_t migrations = 0;                                      // to another core
  std::optional<std::uint64_t> minor_faults, major_faults;           // page faults; major: read from a disk
  std::optional<double> faults_variance;  // of minor_faults, an estimate; absent: all page faults were counted
  // Variances of the values above, for times in ns^2. Absent: all thread switches were recorded; of times also if
  // none was drawn in a region, and the error is unknown.
  std::optional<double> voluntary_variance, involuntary_variance, migrations_variance;
  std::optional<double> runnable_variance, blocked_variance;  // the latter: of blocked_ns()
  // Processor counters, estimated from about 1000 interrupts per second; absent if the machine has none.
  std::optional<std::uint64_t> cycles, instructions, cache_misses;

  std::uint64_t blocked_ns() const { return sleep_ns + lock_ns + io_ns + other_ns; }
  // wall - runnable - blocked; empty while regions are open, and if wall_ns is 0. Estimates that exceed the wall time
  // within three errors: 0.
  std::optional<std::uint64_t> on_cpu_ns() const;
  void merge(const os_context& other);
};

// Completeness of the context.
struct context_account {
  std::uint64_t threads = 0;        // threads announced to the kernel; 0: unknown
  losses lost;                      // periods off the core, page faults, or threads
  std::optional<double> cost_ns{};  // CPU time of the kernel programs
  // For an overhead budget, one of this many page faults or thread switches was recorded, at the coarsest; absent: each
  // one.
  std::optional<std::uint64_t> faults_one_of{}, switches_one_of{};
};

// Spread of the threads' own time in a region, without nested regions.
struct thread_spread {
  std::uint64_t count = 0;  // threads with a known time
  std::uint64_t sum_ns = 0, min_ns = 0, max_ns = 0;

  void merge(const thread_spread& other);
};

}}  // namespace adaptyst::v1

#endif
