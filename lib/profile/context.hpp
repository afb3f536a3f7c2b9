// The kernel's context of call paths, and how it is added to the rows.
#ifndef ADAPTYST_LIB_PROFILE_CONTEXT_HPP
#define ADAPTYST_LIB_PROFILE_CONTEXT_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <unordered_map>

#include "measured.hpp"

namespace adaptyst::lib {

// By the ids of paths; 0 outside all regions.
struct context_sums {
  std::unordered_map<std::uint64_t, kernel_context> by_path;
  bool with_faults = false;
  // Which of the processor's counters were read.
  bool counts_cycles = false, counts_instructions = false, counts_cache_misses = false;
  context_account account;
};

// How many regions of a path are open.
using open_counts = std::unordered_map<std::uint64_t, std::uint64_t>;

// Gives the rows of scopes and functions what happened in them, themselves and with all below; those that are open and
// have no row get one. What happened on a path without a name goes into the sum alone. Rows that were thinned get
// none.
void add_context(measured& sum, const context_sums& from, const open_counts& open);

// The sum over all paths.
kernel_context sum_context(const context_sums& all);

}  // namespace adaptyst::lib

#endif
