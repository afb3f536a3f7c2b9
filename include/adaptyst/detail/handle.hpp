// Regions and operations that end elsewhere than they begin.
#ifndef ADAPTYST_DETAIL_HANDLE_HPP
#define ADAPTYST_DETAIL_HANDLE_HPP

#include "level_payload.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct pending {
  const adaptyst_path* path;  // null: no open region
  uint64_t begin;             // timestamp
  uint64_t epoch;
  double numbers[ADAPTYST_ATTRIBUTES];
};

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN pending begin_pending(site& marker, text name, uint32_t device,
                                                                       const payload_values* payload) noexcept;
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void end_handle(const pending& done) noexcept;

// A template: Clang would emit the callees of a plain function into objects without markers.
template <class = void>
ADAPTYST_DETAIL_INLINE pending begin_handle(site& marker, text name, last_argument) noexcept {
  return begin_pending(marker, name, 0, nullptr);
}

template <class Payload>
ADAPTYST_DETAIL_INLINE pending begin_handle(site& marker, text name, const Payload& payload, last_argument) noexcept {
  const payload_reader<Payload> values(payload);
  return begin_pending(marker, name, 0, &values.read());
}

template <class... Arguments>
pending begin_handle(site&, text, const Arguments&...) noexcept {
  static_assert(sizeof...(Arguments) <= 2, "adaptyst: ADAPTYST_HANDLE_BEGIN(name) or (name, payload)");
  return {};
}

}}}  // namespace adaptyst::v1::detail

#ifndef ADAPTYST_LINK_MARKERS
#include "handle_calls.hpp"
#endif

#endif
