// Expansion of ADAPTYST_BEGIN and ADAPTYST_END.
#ifndef ADAPTYST_DETAIL_PAIR_HPP
#define ADAPTYST_DETAIL_PAIR_HPP

#include "site.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Cold, like the functions of a scope.
template <class = void>
ADAPTYST_DETAIL_COLD void begin_literal_pair(site& marker) noexcept;
template <class = void>
ADAPTYST_DETAIL_COLD void begin_pair_with(site& marker, text name) noexcept;
template <class = void>
ADAPTYST_DETAIL_COLD void end_innermost_pair() noexcept;

template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE void begin_pair(site& marker, const Name& name) noexcept {
  if constexpr (Literal) begin_literal_pair(marker);
  else begin_pair_with(marker, to_event_text(name));
}

}}}  // namespace adaptyst::v1::detail

#define ADAPTYST_DETAIL_PAIR(name)                                                           \
  do {                                                                                       \
    ADAPTYST_DETAIL_SITE(adaptyst_site, ADAPTYST_SITE_CALLBACK, __func__, name);             \
    if (ADAPTYST_DETAIL_ENABLED())                                                           \
      ::adaptyst::detail::begin_pair<ADAPTYST_DETAIL_IS_LITERAL(name)>(adaptyst_site, name); \
  } while (false)
#define ADAPTYST_DETAIL_END_PAIR()                                           \
  do {                                                                       \
    if (ADAPTYST_DETAIL_ENABLED()) ::adaptyst::detail::end_innermost_pair(); \
  } while (false)

#ifndef ADAPTYST_LINK_MARKERS
#include "pair_calls.hpp"
#endif

#endif
