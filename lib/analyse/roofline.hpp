// How near work came to what its machine can do: the roofline model of Williams, Waterman and Patterson (2009). Pure.
//
// attainable = min(peak, intensity × bandwidth), intensity = flops / bytes; work is bound by memory where its intensity is
// below peak / bandwidth. What bytes and flops are is what the program said of them. Where one of them is not known, or
// 0, there is no roofline.
#ifndef ADAPTYST_LIB_ANALYSE_ROOFLINE_HPP
#define ADAPTYST_LIB_ANALYSE_ROOFLINE_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace adaptyst::lib {

// Of one thread, 10^9 a second.
struct thread_ceilings {
  double gflops = 0;
  double gbytes_per_s = 0;
};

// What one of so many threads can attain while all of them work: no more than one alone, and no more than its part of
// what all CPUs attain together. Nothing: `threads` or the number of CPUs is 0.
std::optional<thread_ceilings> find_ceilings(const machine_ceilings& machine, std::uint32_t threads);

// What was done in that time, a sum over these threads. Nothing: one of the four is not known, not finite, or not greater
// than 0.
std::optional<roofline> compute_roofline(std::optional<double> flops, std::optional<double> bytes, double time_ns,
                                         const machine_ceilings& machine, std::uint32_t threads);
// Of a region of the host, by the sums of its attributes "flops" and "bytes".
std::optional<roofline> compute_roofline(const region& region, const machine_ceilings& machine);

// The machine on which all of a profile's processes ran; empty: not known, or several.
std::string find_host(const profile& profile);

// Gives each region of the host a roofline that can have one, and the profile these ceilings if a region has. Whether
// they are of the profile's machine is not checked.
void add_rooflines(profile& to, const machine_ceilings& machine);

}  // namespace adaptyst::lib

#endif
