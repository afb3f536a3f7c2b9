// What the code of a scope in which the host waits calls when something listens.
#ifndef ADAPTYST_DETAIL_OFFLOAD_SCOPE_CALLS_HPP
#define ADAPTYST_DETAIL_OFFLOAD_SCOPE_CALLS_HPP

#include "frames.hpp"
#include "offload_scope.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class>
ADAPTYST_DETAIL_COLD uint64_t begin_wait_with(site& marker, text name, uint32_t device,
                                              const payload_values* payload) noexcept {
  const uint64_t token =
      push_frame(marker, name, device, payload, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
  if (token != 0) {
    recorder& r = *this_thread_recorder;
    const writing now(r);
    book_wait(r, device_work::wait_begin, monotonic_ns());
  }
  return token;
}

}}}  // namespace adaptyst::v1::detail

#endif
