// Simulated programs, and the events that samplers of the kernel record of them. Thousands of runs need optimisation, which
// the tests do not have.
#ifndef ADAPTYST_TESTS_UNIT_SIMULATED_RUNS_HPP
#define ADAPTYST_TESTS_UNIT_SIMULATED_RUNS_HPP

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "../../probes/switch_sampling.h"
#include "kernel/window_sampling.hpp"

namespace simulated {

// What a program did, and what the kernel's programs would have summed up.
struct switches_of_a_run {
  adaptyst_context_row row{};
  std::uint64_t switches = 0, blocked_ns = 0, runnable_ns = 0;
};

// Bursts of up to 3,000 short waits in a pipe, waits of all lengths for locks at the next place, which is that of the pipe
// if `shares_a_place`, and one long wait for a barrier after each burst.
switches_of_a_run run_in_bursts(std::mt19937_64& random, std::uint32_t step, bool shares_a_place);

// Page faults of a run in each millisecond, on two paths.
using faults_of_a_run = std::vector<std::array<std::uint64_t, 2>>;

// Patterns: 0, a frequent and a rare path; 1, both paths in the same bursts, of 30 ms with pauses of 90 ms on average;
// 2, each path in its own bursts; 3, a growing number; 4, the paths in turn, for 35 ms each; 5, a path once in 10 ms,
// which is the length of a window.
faults_of_a_run make_faults(unsigned pattern, std::mt19937_64& random);
std::array<double, 2> count(const faults_of_a_run& run);
// Ticks of 5 ms, as in the collector, some of which come late. The first blocks are shorter.
adaptyst::lib::window_sums watch(const faults_of_a_run& run, std::mt19937_64& random);

}  // namespace simulated

#endif
