// Records metrics and instant events.
#ifndef ADAPTYST_DETAIL_INSTANT_CALLS_HPP
#define ADAPTYST_DETAIL_INSTANT_CALLS_HPP

#include "../metric.hpp"
#include "events.hpp"

#ifndef ADAPTYST_DISABLE

namespace adaptyst { inline namespace v1 { namespace detail {

ADAPTYST_DETAIL_INLINE uint64_t as_bits(double value) noexcept {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Begins and ends at once.
struct ADAPTYST_DETAIL_HIDDEN instant : begin_without_frame {
  const site& marker;
  const double value;
  const adaptyst_path* path = nullptr;

  ADAPTYST_DETAIL_INLINE instant(const site& of, double number) noexcept : marker(of), value(number) {}
  ADAPTYST_DETAIL_INLINE bool is_metric() const noexcept { return marker.kind == ADAPTYST_SITE_METRIC; }
  ADAPTYST_DETAIL_INLINE void open(recorder& r, row& where, const event_source&) noexcept {
    path = where.path;
    bump(r.begun, 1);
    bump(r.ended, 1);
    bump(where.count, 1);
    if (is_metric()) add_attribute(where.attributes[0], value);
    if (r.ring != nullptr)
      trace(*r.ring, load(r.thread), is_metric() ? traced::metric : traced::instant_event, path,
            timestamp(r.owner->control.clock), as_bits(value));
  }
  ADAPTYST_DETAIL_INLINE void start(const recorder& r) const noexcept {
    if (load(adaptyst_object_v5.event) == 0) return;
    if (is_metric()) return adaptyst_probe_metric(path->site->name, path->id, as_bits(value), path);
    const clock_line& clock = r.owner->control.clock;
    adaptyst_probe_mark(path->site->name, path->id, to_monotonic_ns(clock, timestamp(clock)), path);
  }
};

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void record_instant(site& marker, text name, double value) noexcept {
  instant how(marker, value);
  begin_event(how, {marker, name, 0, nullptr});
}

}}}  // namespace adaptyst::v1::detail

#endif

#endif
