// The roofline model of Williams, Waterman and Patterson (2009): attained performance over the machine's maximum. Pure.
//
// attainable = min(peak, intensity × bandwidth), intensity = flops / bytes; work is bound by memory if its intensity is
// below peak / bandwidth. The program reports bytes and flops. If one of them is unknown or 0, there is no roofline.
#ifndef ADAPTYST_LIB_ANALYSE_ROOFLINE_HPP
#define ADAPTYST_LIB_ANALYSE_ROOFLINE_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace adaptyst::lib {

// For one thread, in 10^9 per second.
struct thread_ceilings {
  double gflops = 0;
  double gbytes_per_s = 0;
};

// The maximum of one thread while `threads` threads work: at most the maximum of a single thread, and at most an equal
// part of the maximum of all CPUs. Empty: `threads` or the number of CPUs is 0.
std::optional<thread_ceilings> find_ceilings(const machine_ceilings& machine, std::uint32_t threads);

// `time_ns` is the sum over the threads. Empty: one of the four values is unknown, not finite, or not greater than 0.
std::optional<roofline> compute_roofline(std::optional<double> flops, std::optional<double> bytes, double time_ns,
                                         const machine_ceilings& machine, std::uint32_t threads);
// For a region of the host, from the sums of its attributes "flops" and "bytes".
std::optional<roofline> compute_roofline(const region& region, const machine_ceilings& machine);

// The machine of all processes of a profile; empty: unknown, or several machines.
std::string find_host(const profile& profile);

// Adds a roofline to each host region with known values, and the ceilings to the profile if a region has a roofline.
// The caller checks that the ceilings belong to the profile's machine.
void add_rooflines(profile& to, const machine_ceilings& machine);

}  // namespace adaptyst::lib

#endif
