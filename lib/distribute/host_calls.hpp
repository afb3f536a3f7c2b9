// What threads of the host did other than compute, of several traces.
#ifndef ADAPTYST_LIB_DISTRIBUTE_HOST_CALLS_HPP
#define ADAPTYST_LIB_DISTRIBUTE_HOST_CALLS_HPP

#include <optional>

#include "../analyse/variability/host_efficiency.hpp"
#include "trace_set.hpp"

namespace adaptyst::lib {

// Of the threads that called MPI or a device's library, or waited for one. Nothing: there are none, or more calls than 4 million,
// of which a remark is made. Throws error.
std::optional<host_efficiencies> read_host_efficiencies(const trace_set& traces, const device_efficiencies& times,
                                                        std::vector<std::string>& remarks);

}  // namespace adaptyst::lib

#endif
