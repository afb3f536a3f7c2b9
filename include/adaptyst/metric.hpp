// Attaches numbers and instants to the open region.
//
//   ADAPTYST_METRIC("residual", r);    // count, sum, minimum and maximum under the open region; any arithmetic type
//   ADAPTYST_MARK("restart");          // how often; and, for tools on the probe, when
//
// Cost while nothing listens: a comparison and a branch; the value is not evaluated. Thread-safe, noexcept, signals as
// in region.hpp. A metric that is not a number (NaN) makes its sum NaN, which the report shows as absent.
#ifndef ADAPTYST_METRIC_HPP
#define ADAPTYST_METRIC_HPP

#include "region.hpp"

#ifdef ADAPTYST_DISABLE

#define ADAPTYST_METRIC(name, value) ADAPTYST_DETAIL_CHECK(check_region(name, static_cast<double>(value)))
#define ADAPTYST_MARK(name) ADAPTYST_DETAIL_CHECK(check_region(name))

#else

namespace adaptyst { inline namespace v1 { namespace detail {
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void record_instant(site& marker, text name, double value) noexcept;
}}}  // namespace adaptyst::v1::detail

#define ADAPTYST_METRIC(name, value)                                                     \
  ADAPTYST_DETAIL_INSTANT(ADAPTYST_SITE_METRIC, name, static_cast<double>(value), value, \
                          ::adaptyst::detail::last_argument{})
#define ADAPTYST_MARK(name) ADAPTYST_DETAIL_INSTANT(ADAPTYST_SITE_MARK, name, 0.0, ::adaptyst::detail::last_argument{})

// Behind the value: as behind the name of a region.
#define ADAPTYST_DETAIL_INSTANT(kind, name, value, ...)                                                             \
  do {                                                                                                              \
    ADAPTYST_DETAIL_SITE(adaptyst_site, kind, __func__, name);                                                      \
    if (ADAPTYST_DETAIL_AWAKE())                                                                                    \
      ADAPTYST_DETAIL_UNLESS_BEYOND(                                                                                \
          adaptyst_site, name, static_cast<void>(0),                                                                \
          ::adaptyst::detail::record_instant(adaptyst_site, ADAPTYST_DETAIL_KEPT_NAME(adaptyst_site, name), value), \
          __VA_ARGS__);                                                                                             \
  } while (false)

#ifndef ADAPTYST_LINK_MARKERS
#include "detail/instant_calls.hpp"
#endif

#endif

#endif
