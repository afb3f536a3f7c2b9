// Combines the kernel's counts of events with the program's counts.
#ifndef ADAPTYST_LIB_MODEL_RECONCILE_HPP
#define ADAPTYST_LIB_MODEL_RECONCILE_HPP

#include "measurements.hpp"

namespace adaptyst::lib {

// Counts and times come from the kernel; threads, payload numbers, metrics and instant events from the program.
// `ended_before`: the program's number of ended events before the kernel's rows were read.
measurements reconcile(measurements kernel, measurements program, std::uint64_t ended_before);

}  // namespace adaptyst::lib

#endif
