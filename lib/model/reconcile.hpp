// The kernel's view of events and the program's own, put together.
#ifndef ADAPTYST_LIB_MODEL_RECONCILE_HPP
#define ADAPTYST_LIB_MODEL_RECONCILE_HPP

#include "measured.hpp"

namespace adaptyst::lib {

// Counts and times from the kernel; threads, numbers of payloads, metrics and marks from the program. `ended_before` is
// how many events had ended, as the program knows, before the kernel's rows were read.
measured reconcile(measured kernel, measured program, std::uint64_t ended_before);

}  // namespace adaptyst::lib

#endif
