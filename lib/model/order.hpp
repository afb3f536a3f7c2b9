// The order of lists in merged profiles, and the identity of their elements.
#ifndef ADAPTYST_LIB_MODEL_ORDER_HPP
#define ADAPTYST_LIB_MODEL_ORDER_HPP

#include <adaptyst/profile.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace adaptyst::lib {

// The host is first; other devices may be CPUs as well.
inline auto order(const device_usage& device) {
  return std::make_tuple(device.kind != device_kind::cpu, device.name != "host", device.kind, device.index,
                         device.name);
}

// The one with the largest error is last.
inline auto order(const device_clock_sync& usage) {
  return std::tie(usage.residual_ns, usage.clock, usage.sync_points, usage.offset_ns, usage.drift_ppm);
}

// The description of a host with most information is last; then a fixed order.
inline auto order(const machine& machine) {
  std::string all;
  for (const machine_node& node : machine.nodes)
    all += std::to_string(node.node) + ' ' + std::to_string(node.socket.value_or(0)) + ' ' + node.cpus + ' ' +
           std::to_string(node.memory_bytes.value_or(0)) + '\n';
  for (const machine_device& device : machine.devices)
    all += device.kind + ' ' + device.address + ' ' + device.id + ' ' + std::to_string(device.node.value_or(0)) + '\n';
  return std::make_tuple(machine.cpus, machine.cores, machine.sockets, machine.nodes.size(), machine.devices.size(),
                         std::move(all));
}

// By rank, if ranks exist.
inline auto order(const process_info& process) {
  return std::tie(process.rank, process.host, process.pid, process.command, process.duration_ns, process.started,
                  process.arguments, process.parent, process.cpu_ns);
}

}  // namespace adaptyst::lib

#endif
