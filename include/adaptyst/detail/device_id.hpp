// Number of a device in this process.
#ifndef ADAPTYST_DETAIL_DEVICE_ID_HPP
#define ADAPTYST_DETAIL_DEVICE_ID_HPP

#include "atomic.hpp"
#include "device.hpp"

namespace adaptyst { inline namespace v1 {

struct device_access {
  // Cached in the device: only the first use in a process searches the list.
  template <class = void>
  static uint32_t get_id(const device& device) noexcept {
    const uint32_t id = detail::load(device.id_);
    return id != 0 ? id : look_up(device);
  }

 private:
  template <class = void>
  ADAPTYST_DETAIL_COLD static uint32_t look_up(const device& device) noexcept;
};

}}  // namespace adaptyst::v1

#ifndef ADAPTYST_LINK_MARKERS
#include "device_id_calls.hpp"
#endif

#endif
