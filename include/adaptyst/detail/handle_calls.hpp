// How handles are begun and booked.
#ifndef ADAPTYST_DETAIL_HANDLE_CALLS_HPP
#define ADAPTYST_DETAIL_HANDLE_CALLS_HPP

#include "handle.hpp"
#include "rows.hpp"
#include "site_records.hpp"
#include "tell.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// To be called while the recorder is being written (see `writing`). False: it was counted as lost, or this run does not
// look so deep.
template <class = void>
ADAPTYST_DETAIL_INLINE bool begin_pending_below(recorder& r, const adaptyst_path* parent, site& marker, text name,
                                                uint32_t device, const payload_values* payload,
                                                pending& begun) noexcept {
  loss why = loss::tables_full;
  const adaptyst_site* const record = device > max_devices ? nullptr : find_record(*r.owner, marker, name, payload);
  if (record != nullptr && is_deeper(r, *record)) return false;
  row* const where = record != nullptr ? row_below(r, parent, record, device, why) : nullptr;
  if (where == nullptr) {
    count_loss(r, why);
    return false;
  }
  begun.path = where->path;
  begun.epoch = r.epoch;
  if (payload != nullptr)
    for (uint32_t at = 0; at != payload->count; ++at) begun.numbers[at] = payload->numbers[at];
  bump(r.begun, 1);
  return true;
}

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN pending begin_pending(site& marker, text name, uint32_t device,
                                                                       const payload_values* payload) noexcept {
  pending begun{};
  recorder* const opened = open_recorder();
  if (opened == nullptr) return begun;
  recorder& r = *opened;
  {
    const writing now(r);
    if (!begin_pending_below(r, current_path(r), marker, name, device, payload, begun)) return begun;
  }
  begun.begin = timestamp(r.owner->control.clock);
  return begun;
}

// Books one finished handle in this thread's recorder; false: it belongs to an earlier collector, or could not be.
template <class = void>
inline bool book_handle(recorder& r, const pending& done, uint64_t duration_ns) noexcept {
  if (done.epoch != r.epoch) return false;
  loss why = loss::rows_full;
  row* const where = find_row(r, done.path, why);
  if (where == nullptr) {
    count_loss(r, why);
    bump(r.begun, -1);  // a loss here counts as if the event had been lost at its begin
    return false;
  }
  bump(r.ended, 1);
  bump(where->count, 1);
  if (load(adaptyst_object_v3.recorder) != 0) add_duration(r, *where, duration_ns, 0);
  for (uint32_t at = 0; at != done.path->site->attribute_count; ++at)
    add_attribute(where->attributes[at], done.numbers[at]);
  return true;
}

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void end_handle(const pending& done) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  const clock_line& clock = r.owner->control.clock;
  const uint64_t end = timestamp(clock);
  const uint64_t duration_ns = to_duration_ns(clock, end - done.begin);
  {
    const writing now(r);
    if (!book_handle(r, done, duration_ns)) return;
    if (r.ring != nullptr) trace(*r.ring, load(r.thread), traced::handle, done.path, done.begin, end);
  }
  if (load(adaptyst_object_v3.region_end) != 0) tell_end(*r.owner, done.begin, duration_ns, duration_ns, done.path);
}

}}}  // namespace adaptyst::v1::detail

#endif
