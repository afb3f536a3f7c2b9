// The kernel's context of call paths, and its addition to the rows.
#ifndef ADAPTYST_LIB_MODEL_CONTEXT_HPP
#define ADAPTYST_LIB_MODEL_CONTEXT_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "measurements.hpp"

namespace adaptyst::lib {

// By process number and recorder address.
using announced_recorders = std::set<std::pair<std::int64_t, std::uint64_t>>;

// Paths of threads that are not announced to the kernel: their time on a core is unknown.
struct unannounced_threads {
  std::uint64_t threads = 0;
  path_set paths;             // of their rows
  bool ran_any_path = false;  // there are further threads with unknown paths

  void merge(unannounced_threads&& other);
};

// A part of a context, without minor faults: sampled page faults are an estimate, so the difference of a part may be
// negative. Only the difference of the whole sum is bounded.
struct context_part : os_context {
  std::uint64_t page_faults = 0;  // minor and major ones
  // Page faults recorded in windows: random sums, with the variance of the estimate as their mean square. They add up
  // over paths, which a variance does not: a program that does not fault in a window does so on none of its paths.
  std::vector<double> window_deviations;
  bool has_unseen_faults = false;  // a path has page faults, but none in windows

  void merge(const context_part& other);
};

// By path id; 0 is outside all regions.
struct context_sums {
  std::unordered_map<std::uint64_t, context_part> by_path;
  bool with_faults = false;
  // Page faults recorded in windows: their number in a mean block of windows. It is the standard error of each path
  // without page faults in windows. All such paths together have the same error, because they share the windows.
  std::optional<double> unseen_faults;
  // The hardware counters that were read.
  bool counts_cycles = false, counts_instructions = false, counts_cache_misses = false;
  context_account account;
  unannounced_threads unannounced;

  // Counts these threads as lost.
  void leave_out(unannounced_threads&& threads);
};

// The number of open regions by path.
using open_region_counts = std::unordered_map<std::uint64_t, std::uint64_t>;

// Adds context to the rows of scopes and functions, with and without nested regions. Open regions without a row get
// one. Context of a path without a name is only in the sum. Rows with sampled events, and rows of threads that are not
// announced, get none.
void add_context(measurements& sum, const context_sums& from, const open_region_counts& open);

// Paths around events that an overhead budget has skipped; 0: outside all regions.
path_set find_parents_of_left_out(const measurements& in);

// Scopes of which no events, and no directly nested events, were skipped for an overhead budget.
path_set find_complete_scopes(const measurements& in);

// The time in which threads of all processes were ready, in regions and outside: on a core or waiting for one.
struct core_waits {
  double waited_ns = 0, able_ns = 0;
  std::uint64_t switches = 0;  // involuntary switches
};
// Empty if there is no context, or if the CPU time of a process is unknown.
std::optional<core_waits> sum_core_waits(const profile& in);

// The sum over all paths; empty: no thread is announced to the kernel.
std::optional<os_context> sum_context(const context_sums& all);

}  // namespace adaptyst::lib

#endif
