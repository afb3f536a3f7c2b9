// Ceilings of a machine, and the roofline of a region: docs/ceilings.md. Part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_CEILINGS_HPP
#define ADAPTYST_PROFILE_CEILINGS_HPP

#include <cstdint>
#include <string>

namespace adaptyst { inline namespace v1 {

// Floating-point precision, and the limit of a region.
enum class flop_precision { double_precision, single_precision };
enum class roofline_bound { memory, compute };

// Measured by `adaptyst doctor --measure-ceilings`.
struct machine_ceilings {
  std::string host, cpu;   // name of the machine, and model of its processor
  std::string measured;    // ISO 8601 in UTC
  std::uint32_t cpus = 0;  // CPUs used for the rates of all CPUs
  flop_precision precision = flop_precision::double_precision;
  // One thread; then one thread on each of these CPUs, together.
  double one_gflops = 0, one_gbytes_per_s = 0, all_gflops = 0, all_gbytes_per_s = 0;
};

// How close a region of the host is to its machine's ceilings. Rates and ceilings are per thread in the region. A
// ceiling is the lower of one thread's alone and its share of all threads' together.
struct roofline {
  double flops_per_byte = 0;     // arithmetic intensity
  double gflops = 0;             // attained, 10^9 operations per second
  double gbytes_per_s = 0;       // attained, 10^9 bytes per second
  double attainable_gflops = 0;  // at this intensity
  double share = 0;              // gflops / attainable_gflops
  roofline_bound bound = roofline_bound::memory;
  std::uint32_t threads = 1;  // assumed to work concurrently
};

// Names in files and tables.
const char* to_string(flop_precision precision);
const char* to_string(roofline_bound bound);

}}  // namespace adaptyst::v1

#endif
