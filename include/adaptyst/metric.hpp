// Attaches numbers and instant events to the open region.
//
//   ADAPTYST_METRIC("residual", r);    // any arithmetic type; count, sum, minimum and maximum under the open region
//   ADAPTYST_MARK("restart");          // instant event: count; its time, for tools on the probe
//
// Cost when idle: a comparison and a branch; the value is not evaluated. Thread-safe, noexcept; signals as in
// region.hpp. A NaN makes the sum NaN, which the report shows as absent.
//
// Metadata describes a run, such as mesh, solver and input. The profile contains it, and comparisons report
// differences.
//
//   adaptyst::metadata("mesh", "512^3");
//   adaptyst::metadata("solver", solver.name());    // std::string_view, std::string, const char *
//
// metadata() may be called before or after a collector starts, and under `adaptyst run` or `attach`. The last value of
// a name applies. A process keeps the first 64 calls; the profile contains the number of further calls. Names keep 63
// bytes, values 255. A forked child starts without metadata.
//
// Cost: about 0.1 us per call, enabled or idle; the first call may map memory. Thread-safe, noexcept, lock-free; errno
// stays unchanged. With a collector's keep=, call it after the collector has started, because the file exists from then
// on.
#ifndef ADAPTYST_METRIC_HPP
#define ADAPTYST_METRIC_HPP

#include "detail/text.hpp"
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

// The arguments after the value are those after the name of a region.
#define ADAPTYST_DETAIL_INSTANT(kind, name, value, ...)                                                             \
  do {                                                                                                              \
    ADAPTYST_DETAIL_SITE(adaptyst_site, kind, __func__, name);                                                      \
    if (ADAPTYST_DETAIL_ENABLED())                                                                                  \
      ADAPTYST_DETAIL_UNLESS_BEYOND(                                                                                \
          adaptyst_site, name, static_cast<void>(0),                                                                \
          ::adaptyst::detail::record_instant(adaptyst_site, ADAPTYST_DETAIL_KEPT_NAME(adaptyst_site, name), value), \
          __VA_ARGS__);                                                                                             \
  } while (false)

#ifndef ADAPTYST_LINK_MARKERS
#include "detail/instant_calls.hpp"
#endif

#endif

namespace adaptyst { inline namespace v1 {

namespace detail {

// An array that is not a literal is read up to its first NUL, like any other pointer: it may be filled partly.
struct metadata_text {
  text is;
  metadata_text(const char* terminated) noexcept : is(to_text(detail::terminated(terminated))) {}
  template <class View, class = decltype(text{static_cast<const View*>(nullptr)->data(),
                                              static_cast<const View*>(nullptr)->size()})>
  metadata_text(const View& view) noexcept : is{view.data(), view.size()} {}
};

#ifndef ADAPTYST_DISABLE
template <class = void>
ADAPTYST_DETAIL_COLD void keep_metadata(text name, text value) noexcept;
#endif

}  // namespace detail

#ifdef ADAPTYST_DISABLE
inline namespace disabled {  // units with and without markers can be linked into one program
template <class = void>
inline void metadata(detail::metadata_text, detail::metadata_text) noexcept {}
}  // namespace disabled
#else
template <class = void>
inline void metadata(detail::metadata_text name, detail::metadata_text value) noexcept {
  detail::keep_metadata(name.is, value.is);
}
#endif

}}  // namespace adaptyst::v1

#if !defined(ADAPTYST_DISABLE) && !defined(ADAPTYST_LINK_MARKERS)
#include "detail/metadata_calls.hpp"
#endif

#endif
