// What the code of a scope calls when something listens.
#ifndef ADAPTYST_DETAIL_SCOPE_CALLS_HPP
#define ADAPTYST_DETAIL_SCOPE_CALLS_HPP

#include "frames.hpp"
#include "scope.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class>
ADAPTYST_DETAIL_COLD void end_left_out_elsewhere() noexcept {
  recorder* const own = this_thread_recorder;
  if (reinterpret_cast<uintptr_t>(own) > 1) open_gaps(*own);
}

template <class>
ADAPTYST_DETAIL_COLD uint64_t begin_named(site& marker, uint32_t device) noexcept {
  return push_fast(marker, device, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

template <class>
ADAPTYST_DETAIL_COLD uint64_t begin_with(site& marker, text name, uint32_t device,
                                         const payload_values* payload) noexcept {
  return push_frame(marker, name, device, payload, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

template <class>
ADAPTYST_DETAIL_COLD void leave_scope(uint64_t token) noexcept {
  pop_fast(token);
}

}}}  // namespace adaptyst::v1::detail

#endif
