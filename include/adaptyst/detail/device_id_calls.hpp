// The process's list of devices: finds a device, or adds it.
#ifndef ADAPTYST_DETAIL_DEVICE_ID_CALLS_HPP
#define ADAPTYST_DETAIL_DEVICE_ID_CALLS_HPP

#include "device_id.hpp"
#include "recorder.hpp"

namespace adaptyst { inline namespace v1 {

namespace detail {

template <class = void>
inline uint32_t find_device(process& in, uint32_t kind, uint32_t index,
                            const char (&name)[device_name_bytes]) noexcept {
  constexpr unsigned max_spins = 1U << 28;
  for (uint32_t at = 0; at != max_devices; ++at) {
    device_entry& entry = in.store->activity.devices[at];
    uint32_t state = load_acquire(entry.state);
    if (state == 0 && compare_exchange(entry.state, state, uint32_t{1})) {
      store(entry.kind, kind);
      store(entry.index, index);
      for (size_t byte = 0; byte != sizeof entry.name; ++byte) store(entry.name[byte], name[byte]);
      store_release(entry.state, 2);
      return at + 1;
    }
    // Another thread writes the entry, which takes a few instructions. The wait is bounded: on a shared core, a writer
    // of lower priority may never run.
    for (unsigned spin = 0; load_acquire(entry.state) == 1; ++spin)
      if (spin == max_spins) return max_devices + 1;
    if (entry.kind == kind && entry.index == index && __builtin_memcmp(entry.name, name, sizeof entry.name) == 0)
      return at + 1;
  }
  return max_devices + 1;  // list full: the caller counts the event as lost
}

}  // namespace detail

template <class>
ADAPTYST_DETAIL_COLD uint32_t device_access::look_up(const device& device) noexcept {
  // 0 in a signal handler that interrupts the recorder, and without memory: the event is then counted as lost
  // elsewhere.
  detail::recorder* r = detail::this_thread_recorder;
  if (reinterpret_cast<uintptr_t>(r) == 1) return 0;
  if (r == nullptr && (r = detail::find_recorder()) == nullptr) return 0;
  if (!detail::is_own(*r) || detail::is_being_written(*r)) return 0;
  const detail::writing now(*r);  // a signal handler must not read a half-written entry of its own thread
  const uint32_t found =
      detail::find_device(*r->owner, static_cast<uint32_t>(device.kind_), device.index_, device.name_);
  detail::store(device.id_, found);
  return found;
}

}}  // namespace adaptyst::v1

#endif
