// In what order merged profiles have what they list, and by what two of a kind are known to be the same.
#ifndef ADAPTYST_LIB_MODEL_ORDER_HPP
#define ADAPTYST_LIB_MODEL_ORDER_HPP

#include <adaptyst/profile.hpp>
#include <string>
#include <tuple>
#include <utility>

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

// Of one host, the last is that which says most; then any order that is always the same.
inline auto order(const machine& one) {
  std::string all;
  for (const machine_node& node : one.nodes)
    all += std::to_string(node.node) + ' ' + std::to_string(node.socket.value_or(0)) + ' ' + node.cpus + ' ' +
           std::to_string(node.memory_bytes.value_or(0)) + '\n';
  for (const machine_device& device : one.devices)
    all += device.kind + ' ' + device.address + ' ' + device.id + ' ' + std::to_string(device.node.value_or(0)) + '\n';
  return std::make_tuple(one.cpus, one.cores, one.sockets, one.nodes.size(), one.devices.size(), std::move(all));
}

// By rank, where there are ranks.
inline auto order(const process_info& process) {
  return std::tie(process.rank, process.host, process.pid, process.command, process.duration_ns, process.started,
                  process.arguments, process.parent, process.cpu_ns);
}

}  // namespace adaptyst::lib

#endif
