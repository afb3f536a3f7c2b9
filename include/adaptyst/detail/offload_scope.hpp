// What ADAPTYST_OFFLOAD and ADAPTYST_WAIT expand to: scopes in which the host waits.
#ifndef ADAPTYST_DETAIL_OFFLOAD_SCOPE_HPP
#define ADAPTYST_DETAIL_OFFLOAD_SCOPE_HPP

#include "device_id.hpp"
#include "scope.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// As begin_with(), and the host waits.
template <class = void>
ADAPTYST_DETAIL_COLD uint64_t begin_wait_with(site& marker, text name, uint32_t device,
                                              const payload_values* payload) noexcept;

template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE uint64_t begin_wait(site& marker, uint32_t device, const Name& name) noexcept {
  return begin_wait_with(marker, get_name<Literal>(marker, name), device, nullptr);
}

template <bool Literal, class Name, class Payload>
ADAPTYST_DETAIL_INLINE uint64_t begin_wait(site& marker, uint32_t device, const Name& name,
                                           const Payload& payload) noexcept {
  const payload_reader<Payload> values(payload);
  return begin_wait_with(marker, get_name<Literal>(marker, name), device, &values.read());
}

template <bool Literal, class Name, class... Payload>
ADAPTYST_DETAIL_INLINE uint64_t begin_offload(site& marker, const Name& name, const device& on,
                                              const Payload&... payload) noexcept {
  static_assert(sizeof...(Payload) <= 1, "adaptyst: ADAPTYST_OFFLOAD(name, device) or (name, device, payload)");
  return begin_wait<Literal>(marker, device_access::get_id(on), name, payload...);
}

}}}  // namespace adaptyst::v1::detail

#define ADAPTYST_DETAIL_OFFLOAD_SCOPE(number, name, ...)                                                      \
  ADAPTYST_DETAIL_SITE(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), ADAPTYST_SITE_OFFLOAD, __func__, name); \
  const ::adaptyst::detail::scope ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                            \
    ADAPTYST_DETAIL_AWAKE() ? ::adaptyst::detail::begin_offload<ADAPTYST_DETAIL_IS_LITERAL(name)>(            \
                                  ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), __VA_ARGS__)                 \
                            : 0U                                                                              \
  }

#define ADAPTYST_DETAIL_WAIT_SCOPE(number, name, ...)                                                      \
  ADAPTYST_DETAIL_SITE(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), ADAPTYST_SITE_WAIT, __func__, name); \
  const ::adaptyst::detail::scope ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                         \
    ADAPTYST_DETAIL_AWAKE() ? ::adaptyst::detail::begin_wait<ADAPTYST_DETAIL_IS_LITERAL(name)>(            \
                                  ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), 0U, __VA_ARGS__)          \
                            : 0U                                                                           \
  }

#ifndef ADAPTYST_LINK_MARKERS
#include "offload_scope_calls.hpp"
#endif

#endif
