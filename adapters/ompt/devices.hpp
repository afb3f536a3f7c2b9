// OpenMP's devices by their numbers. The host has a number as well, but the runtime does not report it. A number that
// was never initialised is therefore a device of an unknown kind.
#ifndef ADAPTYST_ADAPTERS_OMPT_DEVICES_HPP
#define ADAPTYST_ADAPTERS_OMPT_DEVICES_HPP

#include <adaptyst/offload.hpp>
#include <atomic>
#include <cstdio>
#include <cstring>

namespace adaptyst::ompt {

class device_list {
 public:
  // `type`: "sm_90", "gfx90a", "generic-64bit", …
  void add(int number, const char* type) noexcept {
    if (number < 0 || number >= max_devices || types_[number].is_known.load(std::memory_order_acquire)) return;
    std::snprintf(types_[number].name, sizeof types_[number].name, "OpenMP %s", type != nullptr ? type : "device");
    types_[number].is_known.store(true, std::memory_order_release);
  }

  bool knows(int number) const noexcept {
    return number >= 0 && number < max_devices && types_[number].is_known.load(std::memory_order_acquire);
  }

  device at(int number) const noexcept {
    if (!knows(number)) return {device_kind::other, static_cast<std::uint32_t>(number), "OpenMP, unknown device"};
    const char* const name = types_[number].name;
    const bool is_gpu = std::strncmp(name, "OpenMP sm_", 10) == 0 || std::strncmp(name, "OpenMP gfx", 10) == 0;
    return {is_gpu ? device_kind::gpu : device_kind::accelerator, static_cast<std::uint32_t>(number), name};
  }

 private:
  static constexpr int max_devices = 64;
  struct {
    std::atomic<bool> is_known;
    char name[40];
  } types_[max_devices]{};
};

}  // namespace adaptyst::ompt

#endif
