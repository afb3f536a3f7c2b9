// Attaches numbers and instants to the open region.
//
//   ADAPTYST_METRIC("residual", r);    // count, sum, minimum and maximum under the open region; any arithmetic type
//   ADAPTYST_MARK("restart");          // how often; and, for tools on the probe, when
//
// Cost while nobody looks: a comparison and a branch; the value is not evaluated. Thread-safe, noexcept, signals as in
// region.hpp. A metric that is not a number (NaN) makes its sum NaN, which the report shows as absent.
#ifndef ADAPTYST_METRIC_HPP
#define ADAPTYST_METRIC_HPP

#include "region.hpp"

#ifdef ADAPTYST_DISABLE

#define ADAPTYST_METRIC(name, value) ADAPTYST_DETAIL_CHECK(check_region(name, static_cast<double>(value)))
#define ADAPTYST_MARK(name) ADAPTYST_DETAIL_CHECK(check_region(name))

#else

namespace adaptyst { inline namespace v1 { namespace detail {

ADAPTYST_DETAIL_INLINE uint64_t bits_of(double value) noexcept {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void record_instant(site& marker, text name,
                                                                            double value) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  row* where = nullptr;
  {
    const writing now(r);
    loss why = loss::tables_full;
    const adaptyst_site* const record = record_of(*r.owner, marker, name, nullptr);
    if (record != nullptr) where = row_below(r, current_path(r), record, 0, why);
    if (where == nullptr) {
      count_loss(r, why);
      return;
    }
    bump(r.begun, 1);
    bump(r.ended, 1);
    bump(where->count, 1);
    if (marker.kind == ADAPTYST_SITE_METRIC) add_attribute(where->attributes[0], value);
    if (r.ring != nullptr)
      trace(*r.ring, load(r.thread), marker.kind == ADAPTYST_SITE_METRIC ? traced::metric : traced::mark, where->path,
            timestamp(r.owner->control.clock), bits_of(value));
  }
  if (load(adaptyst_object_v3.event) == 0) return;
  const adaptyst_path* const path = where->path;
  if (marker.kind == ADAPTYST_SITE_METRIC) {
    adaptyst_probe_metric(path->site->name, path->id, bits_of(value), path);
  } else {
    const clock_line& clock = r.owner->control.clock;
    adaptyst_probe_mark(path->site->name, path->id, to_monotonic_ns(clock, timestamp(clock)), path);
  }
}

}}}  // namespace adaptyst::v1::detail

#define ADAPTYST_METRIC(name, value) ADAPTYST_DETAIL_INSTANT(ADAPTYST_SITE_METRIC, name, static_cast<double>(value))
#define ADAPTYST_MARK(name) ADAPTYST_DETAIL_INSTANT(ADAPTYST_SITE_MARK, name, 0.0)

#define ADAPTYST_DETAIL_INSTANT(kind, name, value)                                                                   \
  do {                                                                                                               \
    ADAPTYST_DETAIL_SITE(adaptyst_site, kind, __func__, name);                                                       \
    if (ADAPTYST_DETAIL_AWAKE())                                                                                     \
      ::adaptyst::detail::record_instant(                                                                            \
          adaptyst_site, ::adaptyst::detail::name_of<ADAPTYST_DETAIL_IS_LITERAL(name)>(adaptyst_site, name), value); \
  } while (false)

#endif

#endif
