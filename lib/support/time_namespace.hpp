// The clocks of processes in time namespaces.
#ifndef ADAPTYST_LIB_SUPPORT_TIME_NAMESPACE_HPP
#define ADAPTYST_LIB_SUPPORT_TIME_NAMESPACE_HPP

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace adaptyst::lib {

// The difference between CLOCK_MONOTONIC of a process and that of this process, in ns. 0 without time namespaces, and
// for a process that has ended. Empty: the process is in another namespace than its children, and the kernel shows only
// theirs.
std::optional<std::int64_t> find_clock_lead_ns(pid_t process);

}  // namespace adaptyst::lib

#endif
