// The kernel's context of call paths, and how it is added to the rows.
#ifndef ADAPTYST_LIB_MODEL_CONTEXT_HPP
#define ADAPTYST_LIB_MODEL_CONTEXT_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "measured.hpp"

namespace adaptyst::lib {

// By the numbers of processes, and the addresses of recorders in them.
using announced_recorders = std::set<std::pair<std::int64_t, std::uint64_t>>;

// Paths of threads that have not announced themselves to the kernel: their time on a core is unknown.
struct unannounced_threads {
  std::uint64_t threads = 0;
  path_set paths;             // that they have rows of
  bool ran_any_path = false;  // there are more, of which it is not known what they ran

  void merge(unannounced_threads&& other);
};

// By the ids of paths; 0 outside all regions.
struct context_sums {
  std::unordered_map<std::uint64_t, kernel_context> by_path;
  bool with_faults = false;
  // Which of the processor's counters were read.
  bool counts_cycles = false, counts_instructions = false, counts_cache_misses = false;
  context_account account;
  unannounced_threads unannounced;

  // Counts those threads among what is lost.
  void leave_out(unannounced_threads&& threads);
};

// How many regions of a path are open.
using open_counts = std::unordered_map<std::uint64_t, std::uint64_t>;

// Gives the rows of scopes and functions what happened in them, themselves and with all below; those that are open and
// have no row get one. What happened on a path without a name goes into the sum alone. Rows that were thinned, and rows
// of threads that have not announced themselves, get none.
void add_context(measured& sum, const context_sums& from, const open_counts& open);

// How long the threads of all processes could run, in regions and outside: they were on a core or waited for one.
struct core_waits {
  double waited_ns = 0, able_ns = 0;
  std::uint64_t switches = 0;  // involuntary ones
};
// Empty where the kernel was not asked, or the CPU time of a process is not known.
std::optional<core_waits> sum_core_waits(const profile& in);

// The sum over all paths; empty: no thread has announced itself.
std::optional<kernel_context> sum_context(const context_sums& all);

}  // namespace adaptyst::lib

#endif
