// In what order merged profiles have what they list, and by what two of a kind are known to be the same.
#ifndef ADAPTYST_LIB_PROFILE_ORDER_HPP
#define ADAPTYST_LIB_PROFILE_ORDER_HPP

#include <adaptyst/profile.hpp>
#include <tuple>

namespace adaptyst::lib {

// The host first; others may be CPUs as well.
inline auto order(const device_usage& device) {
  return std::make_tuple(device.kind != device_kind::cpu, device.name != "host", device.kind, device.index,
                         device.name);
}

// The last is that which has been the farthest off.
inline auto order(const device_clock_usage& usage) {
  return std::tie(usage.residual_ns, usage.clock, usage.sync_points, usage.offset_ns, usage.drift_ppm);
}

// By rank, where there are ranks.
inline auto order(const process_info& process) {
  return std::tie(process.rank, process.host, process.pid, process.command, process.duration_ns, process.started,
                  process.arguments);
}

}  // namespace adaptyst::lib

#endif
