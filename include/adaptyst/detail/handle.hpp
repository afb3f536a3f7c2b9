// Regions and operations that end elsewhere than where they began.
#ifndef ADAPTYST_DETAIL_HANDLE_HPP
#define ADAPTYST_DETAIL_HANDLE_HPP

#include "site.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct pending {
  const adaptyst_path* path;  // null: nothing is open
  uint64_t begin;             // timestamp
  uint64_t epoch;
  double numbers[ADAPTYST_ATTRIBUTES];
};

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN pending begin_pending(site& marker, text name, uint32_t device,
                                                                       const payload_values* payload) noexcept;
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void end_handle(const pending& done) noexcept;

template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE pending begin_handle(site& marker, uint32_t device, const Name& name) noexcept {
  return begin_pending(marker, get_name<Literal>(marker, name), device, nullptr);
}

template <bool Literal, class Name, class Payload>
ADAPTYST_DETAIL_INLINE pending begin_handle(site& marker, uint32_t device, const Name& name,
                                            const Payload& payload) noexcept {
  const payload_reader<Payload> values(payload);
  return begin_pending(marker, get_name<Literal>(marker, name), device, &values.read());
}

}}}  // namespace adaptyst::v1::detail

#ifndef ADAPTYST_LINK_MARKERS
#include "handle_calls.hpp"
#endif

#endif
