// Stack samples of threads: docs/samples.md. Part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_SAMPLES_HPP
#define ADAPTYST_PROFILE_SAMPLES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting.hpp"

namespace adaptyst { inline namespace v1 {

// Stack samples of threads on their cores, taken by a clock per core.
struct sample_usage {
  std::uint64_t samples = 0;  // in regions and outside
  // Time that the samples represent, ns. A sample represents the time since the previous tick of its clock.
  std::uint64_t observed_ns = 0;
  losses lost;                      // samples, periods off the core, or stacks
  std::optional<double> cost_ns{};  // CPU time, measured in the kernel programs
  // CPU time of an observer of other processes, and the part for finding callers in copies of stacks.
  std::optional<double> observer_ns{}, unwinding_ns{};
  // For an overhead budget, one of this many waits was recorded, at the coarsest; absent: each one.
  std::optional<std::uint64_t> waits_one_of{};

  std::optional<std::uint64_t> period_ns() const;  // mean time per sample; empty without samples
};

// A function in sampled stacks (docs/samples.md), with the time of the stacks that end in it.
struct sampled_frame {
  std::string name;
  std::uint32_t depth = 0;       // 0: outermost; its caller precedes it, at depth - 1
  std::uint64_t on_cpu_ns = 0;   // sum of the times of its samples
  std::uint64_t blocked_ns = 0;  // exact, as is waiting_ns, unless waits_one_of is present
  std::uint64_t waiting_ns = 0;  // for a core
};

// Stacks in a region, without nested regions. Callers precede callees.
struct region_stacks {
  std::uint64_t region = 0;  // its id; 0: outside all regions
  std::vector<sampled_frame> frames;
};

}}  // namespace adaptyst::v1

#endif
