// Functions of an enabled scope in which the host waits.
#ifndef ADAPTYST_DETAIL_OFFLOAD_SCOPE_CALLS_HPP
#define ADAPTYST_DETAIL_OFFLOAD_SCOPE_CALLS_HPP

#include "events.hpp"
#include "offload_scope.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct begin_of_wait : begin_with_frame {
  static ADAPTYST_DETAIL_INLINE bool is_waiting(uint32_t) noexcept { return true; }
  using begin_with_frame::begin_with_frame;
};

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t open_wait(site& marker, text name, uint32_t device,
                                                                           const payload_values* payload,
                                                                           const void* stack,
                                                                           const void* code) noexcept {
  begin_of_wait how(stack, code);
  return begin_event(how, {marker, name, device, payload});
}

template <class>
ADAPTYST_DETAIL_COLD uint64_t begin_wait_with(site& marker, text name, uint32_t device,
                                              const payload_values* payload) noexcept {
  return open_wait(marker, name, device, payload, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

}}}  // namespace adaptyst::v1::detail

#endif
