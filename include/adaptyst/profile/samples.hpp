// Samples of threads, and the stacks in which they were: docs/samples.md. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_SAMPLES_HPP
#define ADAPTYST_PROFILE_SAMPLES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting.hpp"

namespace adaptyst { inline namespace v1 {

// Samples of threads on their cores, taken by a clock on each.
struct sample_usage {
  std::uint64_t samples = 0;  // in regions and outside
  std::uint64_t observed_ns =
      0;        // the time that they represent, ns: for each sample, since the previous tick of its clock
  losses lost;  // samples, stretches off the core, or stacks
  std::optional<double> cost_ns{};  // CPU time that they took, as the programs in the kernel saw it

  std::optional<std::uint64_t> period_ns() const;  // the time that a sample represents; empty without samples
};

// A function that was met in stacks (docs/samples.md), with the time of the stacks that end in it.
struct sampled_frame {
  std::string name;
  std::uint32_t depth = 0;       // of its caller, which precedes it, one less; 0: the outermost
  std::uint64_t on_cpu_ns = 0;   // the sum of the times that its samples represent
  std::uint64_t blocked_ns = 0;  // these two are exact
  std::uint64_t waiting_ns = 0;  // for a core
};

// Stacks that were taken in a region, and not in one that is nested in it: callers before what they call.
struct region_stacks {
  std::uint64_t region = 0;  // its id; 0: outside all regions
  std::vector<sampled_frame> frames;
};

}}  // namespace adaptyst::v1

#endif
