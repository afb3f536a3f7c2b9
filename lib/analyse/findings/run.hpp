// What all findings are measured by: the run, and what is too little to be worth a word.
#ifndef ADAPTYST_LIB_ANALYSE_FINDINGS_RUN_HPP
#define ADAPTYST_LIB_ANALYSE_FINDINGS_RUN_HPP

#include <adaptyst/findings.hpp>
#include <cstdint>

namespace adaptyst::lib {

// To win less than this of a run is below what one run differs from the next by.
constexpr double least_share = 0.02;
// In some milliseconds, nothing can be won that anybody notices.
constexpr double least_time_ns = 10e6;
// A place that loses less than a fifth of its own time does for the most part what it is there for.
constexpr double least_part = 0.2;
// The standard error of a count of independent events is its root: of ten or more, less than a third.
constexpr std::uint64_t least_events = 10;

// The duration of the run, summed over processes.
double compute_duration(const profile& profile);

// Whether a time is enough of `whole`, and enough at all. False where there is no whole.
bool is_worth_a_word(double time_ns, double whole_ns);

// Of a region, with its time as a share of the run.
finding found_in(const profile& profile, const region& row, finding_kind kind, double time_ns);
// Of a device, with its time as a share of what was observed of it.
finding found_on(const profile& profile, std::uint32_t device, finding_kind kind, double time_ns);

// What the kernel knows of a region without those nested in it; null where it knows nothing, or not all as yet.
const kernel_context* own_context(const region& row);

// Whether waiting is what the region is there for: the host for a device.
bool is_a_wait(const region& row);

}  // namespace adaptyst::lib

#endif
