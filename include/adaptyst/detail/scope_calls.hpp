// Functions of an enabled scope.
#ifndef ADAPTYST_DETAIL_SCOPE_CALLS_HPP
#define ADAPTYST_DETAIL_SCOPE_CALLS_HPP

#include "events.hpp"
#include "scope.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct begin_of_scope : begin_with_frame {
  static constexpr leaving leaves_out = leaving::by_marker;
  static ADAPTYST_DETAIL_INLINE bool is_waiting(uint32_t) noexcept { return false; }
  boundary common;

  ADAPTYST_DETAIL_INLINE begin_of_scope(const void* at, const void* by, const boundary& with) noexcept
      : begin_with_frame(at, by), common(with) {}
  ADAPTYST_DETAIL_INLINE boundary shared() const noexcept { return common; }
};

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t open_scope(site& marker, text name, uint32_t device,
                                                                            const payload_values* payload,
                                                                            const void* stack, const void* code,
                                                                            const boundary& shared = {}) noexcept {
  begin_of_scope how(stack, code, shared);
  return begin_event(how, {marker, name, device, payload});
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t open_unexpected_scope(site& marker, const void* stack,
                                                                                       const void* code) noexcept {
  return open_scope(marker, {marker.name, marker.name_bytes}, 0, nullptr, stack, code);
}

// For a marker with a literal name.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t open_literal_scope(site& marker, const void* stack,
                                                                                    const void* code) noexcept {
  const uint64_t token = begin_as_expected(expected_marker<false>{marker, stack, code});
  if (ADAPTYST_DETAIL_LIKELY(token != 0)) return token;
  return open_unexpected_scope(marker, stack, code);
}

template <class>
ADAPTYST_DETAIL_COLD void end_left_out_elsewhere() noexcept {
  recorder* const own = this_thread_recorder;
  if (reinterpret_cast<uintptr_t>(own) > 1) open_skip_counts(*own);
}

template <class>
ADAPTYST_DETAIL_COLD uint64_t begin_named(site& marker) noexcept {
  return open_literal_scope(marker, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

template <class>
ADAPTYST_DETAIL_COLD uint64_t begin_with(site& marker, text name, uint32_t device,
                                         const payload_values* payload) noexcept {
  return open_scope(marker, name, device, payload, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

template <class>
ADAPTYST_DETAIL_COLD void leave_scope(uint64_t token) noexcept {
  end_frame(token);
}

}}}  // namespace adaptyst::v1::detail

#endif
