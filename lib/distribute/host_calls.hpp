// The time that host threads did not spend computing, from several traces.
#ifndef ADAPTYST_LIB_DISTRIBUTE_HOST_CALLS_HPP
#define ADAPTYST_LIB_DISTRIBUTE_HOST_CALLS_HPP

#include <optional>

#include "../analyse/variability/host_efficiency.hpp"
#include "trace_set.hpp"

namespace adaptyst::lib {

// For threads that called MPI or a device's library, or waited for a device. Empty: no such threads, or more than 4
// million calls, which adds a remark. Throws error.
std::optional<host_efficiencies> read_host_efficiencies(const trace_set& traces, const device_efficiencies& times,
                                                        std::vector<std::string>& remarks);

}  // namespace adaptyst::lib

#endif
