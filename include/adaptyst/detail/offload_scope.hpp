// Expansion of ADAPTYST_OFFLOAD and ADAPTYST_WAIT: scopes in which the host waits.
#ifndef ADAPTYST_DETAIL_OFFLOAD_SCOPE_HPP
#define ADAPTYST_DETAIL_OFFLOAD_SCOPE_HPP

#include "device_id.hpp"
#include "scope.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Like begin_with(), and the host waits.
template <class = void>
ADAPTYST_DETAIL_COLD uint64_t begin_wait_with(site& marker, text name, uint32_t device,
                                              const payload_values* payload) noexcept;

// A template: Clang would emit the callees of a plain function into objects without markers.
template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t begin_wait(site& marker, uint32_t device, text name, last_argument) noexcept {
  return begin_wait_with(marker, name, device, nullptr);
}

template <class Payload>
ADAPTYST_DETAIL_INLINE uint64_t begin_wait(site& marker, uint32_t device, text name, const Payload& payload,
                                           last_argument) noexcept {
  const payload_reader<Payload> values(payload);
  return begin_wait_with(marker, name, device, &values.read());
}

template <class... Arguments>
uint64_t begin_wait(site&, uint32_t, text, const Arguments&...) noexcept {
  static_assert(sizeof...(Arguments) <= 2, "adaptyst: ADAPTYST_WAIT(name) or (name, payload)");
  return 0;
}

template <class... Arguments>
ADAPTYST_DETAIL_INLINE uint64_t begin_offload(site& marker, text name, const device& on,
                                              const Arguments&... payload) noexcept {
  static_assert(sizeof...(Arguments) <= 2, "adaptyst: ADAPTYST_OFFLOAD(name, device) or (name, device, payload)");
  return begin_wait(marker, device_access::get_id(on), name, payload...);
}

}}}  // namespace adaptyst::v1::detail

#define ADAPTYST_DETAIL_BEHIND_DEVICE(name, device, ...) __VA_ARGS__
#define ADAPTYST_DETAIL_OFFLOAD_SCOPE(number, name, ...)                                                      \
  ADAPTYST_DETAIL_SITE(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), ADAPTYST_SITE_OFFLOAD, __func__, name); \
  const ::adaptyst::detail::scope<> ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                          \
    ADAPTYST_DETAIL_ENABLED()                                                                                 \
    ? ADAPTYST_DETAIL_UNLESS_BEYOND(                                                                          \
          ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), name, uint64_t{0},                                   \
          ::adaptyst::detail::begin_offload(                                                                  \
              ADAPTYST_DETAIL_PASTE(adaptyst_site_, number),                                                  \
              ADAPTYST_DETAIL_KEPT_NAME(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), name),                 \
              ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__)),                                                          \
          ADAPTYST_DETAIL_BEHIND_DEVICE(__VA_ARGS__, ::adaptyst::detail::last_argument{}))                    \
    : uint64_t {                                                                                              \
      0                                                                                                       \
    }                                                                                                         \
  }
#define ADAPTYST_DETAIL_WAIT_SCOPE(number, name, ...)                                                      \
  ADAPTYST_DETAIL_SITE(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), ADAPTYST_SITE_WAIT, __func__, name); \
  const ::adaptyst::detail::scope<> ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                       \
    ADAPTYST_DETAIL_ENABLED()                                                                              \
    ? ADAPTYST_DETAIL_UNLESS_BEYOND(                                                                       \
          ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), name, uint64_t{0},                                \
          ::adaptyst::detail::begin_wait(                                                                  \
              ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), 0U,                                           \
              ADAPTYST_DETAIL_KEPT_NAME(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), name),              \
              ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__)),                                                       \
          ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__))                                                            \
    : uint64_t {                                                                                           \
      0                                                                                                    \
    }                                                                                                      \
  }

#ifndef ADAPTYST_LINK_MARKERS
#include "offload_scope_calls.hpp"
#endif

#endif
