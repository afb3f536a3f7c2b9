// How metrics and marks are recorded.
#ifndef ADAPTYST_DETAIL_INSTANT_CALLS_HPP
#define ADAPTYST_DETAIL_INSTANT_CALLS_HPP

#include "../metric.hpp"
#include "rows.hpp"
#include "site_records.hpp"
#include "tell.hpp"

#ifndef ADAPTYST_DISABLE

namespace adaptyst { inline namespace v1 { namespace detail {

ADAPTYST_DETAIL_INLINE uint64_t as_bits(double value) noexcept {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void record_instant(site& marker, text name, double value) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  row* where = nullptr;
  {
    const writing now(r);
    loss why = loss::tables_full;
    const adaptyst_site* const record = find_record(*r.owner, marker, name, nullptr);
    if (record != nullptr && is_deeper(r, *record)) return;
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
            timestamp(r.owner->control.clock), as_bits(value));
  }
  if (load(adaptyst_object_v3.event) == 0) return;
  const adaptyst_path* const path = where->path;
  if (marker.kind == ADAPTYST_SITE_METRIC) {
    adaptyst_probe_metric(path->site->name, path->id, as_bits(value), path);
  } else {
    const clock_line& clock = r.owner->control.clock;
    adaptyst_probe_mark(path->site->name, path->id, to_monotonic_ns(clock, timestamp(clock)), path);
  }
}

}}}  // namespace adaptyst::v1::detail

#endif

#endif
