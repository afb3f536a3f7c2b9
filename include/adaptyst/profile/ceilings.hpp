// The ceilings of a machine, and how near a region came to them: docs/ceilings.md. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_CEILINGS_HPP
#define ADAPTYST_PROFILE_CEILINGS_HPP

#include <cstdint>
#include <string>

namespace adaptyst { inline namespace v1 {

// The precision of floating-point numbers, and the limit of a region: docs/ceilings.md.
enum class flop_precision { double_precision, single_precision };
enum class roofline_bound { memory, compute };

// The ceilings of a machine, measured by `adaptyst doctor --ceilings`: docs/ceilings.md.
struct machine_ceilings {
  std::string host, cpu;   // the machine's name, and the model of its processor
  std::string measured;    // when: ISO 8601 in UTC
  std::uint32_t cpus = 0;  // that took part in the figures of all
  flop_precision precision = flop_precision::double_precision;
  // One thread; then one thread on each of these CPUs, together.
  double one_gflops = 0, one_gbytes_per_s = 0, all_gflops = 0, all_gbytes_per_s = 0;
};

// How near a region of the host came to what its machine can do. Rates are those of one thread while it was in the
// region, and so are the ceilings: the least of what one thread attains alone, and its part of what all attain together.
struct roofline {
  double flops_per_byte = 0;     // the arithmetic intensity
  double gflops = 0;             // attained: 10^9 operations in a second
  double gbytes_per_s = 0;       // attained: 10^9 bytes in a second
  double attainable_gflops = 0;  // with this intensity
  double share = 0;              // of that, attained
  roofline_bound bound = roofline_bound::memory;
  std::uint32_t threads = 1;  // that were taken to have worked at once
};

// As files and tables have them.
const char* to_string(flop_precision precision);
const char* to_string(roofline_bound bound);

}}  // namespace adaptyst::v1

#endif
