// Threads as the kernel saw them: docs/context.md. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_CONTEXT_HPP
#define ADAPTYST_PROFILE_CONTEXT_HPP

#include <cstdint>
#include <optional>

#include "accounting.hpp"

namespace adaptyst { inline namespace v1 {

// The threads of a region as the kernel saw them: times off the core are exact, as a thread stays in its
// region meanwhile; the time on it is what is left. Nanoseconds, summed over threads.
struct kernel_context {
  std::uint64_t wall_ns = 0;      // of the regions that have ended; 0: none has, or it is the context of a device
  std::uint64_t open = 0;         // regions that have not, and are part of what follows
  std::uint64_t runnable_ns = 0;  // waiting for a core
  std::uint64_t sleep_ns = 0, lock_ns = 0, io_ns = 0, other_ns = 0;  // blocked: until a time, on a futex, on files
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;    // to wait; while it could have run on
  std::uint64_t migrations = 0;                                      // to another core
  std::optional<std::uint64_t> minor_faults, major_faults;           // of pages; major: read from a disk
  // Counters of the processor: estimates from about 1000 interrupts a second; absent if the machine has
  // none.
  std::optional<std::uint64_t> cycles, instructions, cache_misses;

  std::uint64_t blocked_ns() const { return sleep_ns + lock_ns + io_ns + other_ns; }
  // wall - runnable - blocked; empty while regions are open, and where wall_ns is 0.
  std::optional<std::uint64_t> on_cpu_ns() const;
  void merge(const kernel_context& other);
};

// How much of that there is to know.
struct context_account {
  std::uint64_t threads = 0;        // that have announced themselves to the kernel; 0: not known
  losses lost;                      // stretches off the core, page faults, or threads
  std::optional<double> cost_ns{};  // CPU time that it took, as the programs in the kernel saw it
};

// How the threads of a region differ: of each, its own time in it, without nested regions.
struct thread_spread {
  std::uint64_t count = 0;  // threads with a known time of their own
  std::uint64_t sum_ns = 0, min_ns = 0, max_ns = 0;

  void merge(const thread_spread& other);
};

}}  // namespace adaptyst::v1

#endif
