// Device numbers in a trace, of processes and of machines.
#ifndef ADAPTYST_LIB_TRACE_PROCESS_DEVICES_HPP
#define ADAPTYST_LIB_TRACE_PROCESS_DEVICES_HPP

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace_input.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

// Files of other programs have any numbers. Devices from this number on count as one device, with this number.
constexpr std::uint32_t max_devices_in_file = 4096;
inline std::uint32_t limit_device(std::int64_t number) noexcept {
  return number >= 0 && number < max_devices_in_file ? static_cast<std::uint32_t>(number) : max_devices_in_file;
}

using devices_by_number = std::map<std::uint32_t, trace_input::device>;
inline devices_by_number sort_devices(const std::vector<trace_input::device>& all) {
  devices_by_number made;
  for (const trace_input::device& device : all) made[device.physical] = device;
  return made;
}

// "gpu0 NVIDIA A100", as far as known.
inline traced_device describe_gpu(const devices_by_number& all, std::uint32_t physical) {
  if (physical == max_devices_in_file) return {"(other devices)", physical, {}};
  traced_device made{"gpu" + std::to_string(physical), physical, {}};
  if (const auto found = all.find(physical); found != all.end()) {
    made.uuid = found->second.uuid;
    if (!found->second.name.empty()) made.name += " " + found->second.name;
  }
  return made;
}

class process_devices {
 public:
  // The caller fills it in.
  trace_input::device& add(std::int64_t process, std::uint32_t number) { return all_[{process, number}]; }

  // A number that is not in the trace counts as the number of the machine.
  std::uint32_t physical(std::int64_t process, std::uint32_t number) const {
    const auto found = all_.find({process, number});
    return found != all_.end() ? found->second.physical : number;
  }
  trace_input::users_by_device users() const {
    trace_input::users_by_device made;
    for (const auto& [key, device] : all_) made[device.physical].insert(key.first);
    return made;
  }
  // Each device of the machines once.
  std::vector<trace_input::device> list() const {
    std::map<std::uint32_t, trace_input::device> by_number;
    for (const auto& [key, device] : all_) by_number.try_emplace(device.physical, device);
    std::vector<trace_input::device> made;
    made.reserve(by_number.size());
    for (auto& [number, device] : by_number) made.push_back(std::move(device));
    return made;
  }
  void name(trace_writer& to) const {
    for (const auto& [key, device] : all_)
      to.name_device(key.first, key.second, {device.name, device.physical, device.uuid});
  }

 private:
  std::map<std::pair<std::int64_t, std::uint32_t>, trace_input::device> all_;
};

}  // namespace adaptyst::lib

#endif
