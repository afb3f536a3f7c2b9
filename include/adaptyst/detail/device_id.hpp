// From a device as the program names it to its number in the process.
#ifndef ADAPTYST_DETAIL_DEVICE_ID_HPP
#define ADAPTYST_DETAIL_DEVICE_ID_HPP

#include "../device.hpp"
#include "marker.hpp"

namespace adaptyst { inline namespace v1 {

struct device_access {
  // Remembered in the device, so that only its first use in a process searches the list.
  template <class = void>
  static uint32_t id_of(const device& of) noexcept {
    const uint32_t known = detail::load(of.id_);
    if (known != 0) return known;
    // What this cannot do, in a signal handler or without memory, the event that follows cannot either, and counts it.
    detail::recorder* r = detail::this_thread_recorder;
    if (reinterpret_cast<uintptr_t>(r) <= 1 || detail::is_being_written(*r)) r = nullptr;
    if (r == nullptr && (detail::this_thread_recorder != nullptr || (r = detail::find_recorder()) == nullptr)) return 0;
    const detail::writing now(*r);  // a signal handler must not meet a half-written entry of its own thread
    const uint32_t found = detail::find_device(*r->owner, static_cast<uint32_t>(of.kind_), of.index_, of.name_);
    detail::store(of.id_, found);
    return found;
  }
};

namespace detail {

template <bool Literal, class Name, class... Payload>
ADAPTYST_DETAIL_INLINE uint64_t begin_offload(site& marker, const Name& name, const device& on,
                                              const Payload&... payload) noexcept {
  static_assert(sizeof...(Payload) <= 1, "adaptyst: ADAPTYST_OFFLOAD(name, device) or (name, device, payload)");
  return begin_wait<Literal>(marker, device_access::id_of(on), name, payload...);
}

}  // namespace detail

}}  // namespace adaptyst::v1

#define ADAPTYST_DETAIL_OFFLOAD_SCOPE(number, name, ...)                                                        \
  ADAPTYST_DETAIL_SITE(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), ADAPTYST_SITE_OFFLOAD, __func__, name);   \
  const ::adaptyst::detail::scope ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                              \
    ADAPTYST_DETAIL_WANTED(number, name) ? ::adaptyst::detail::begin_offload<ADAPTYST_DETAIL_IS_LITERAL(name)>( \
                                               ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), __VA_ARGS__)      \
                                         : 0U                                                                   \
  }

#define ADAPTYST_DETAIL_WAIT_SCOPE(number, name, ...)                                                          \
  ADAPTYST_DETAIL_SITE(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), ADAPTYST_SITE_WAIT, __func__, name);     \
  const ::adaptyst::detail::scope ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                             \
    ADAPTYST_DETAIL_WANTED(number, name) ? ::adaptyst::detail::begin_wait<ADAPTYST_DETAIL_IS_LITERAL(name)>(   \
                                               ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), 0U, __VA_ARGS__) \
                                         : 0U                                                                  \
  }

#endif
