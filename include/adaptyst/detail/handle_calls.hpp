// Begin and end of handles.
#ifndef ADAPTYST_DETAIL_HANDLE_CALLS_HPP
#define ADAPTYST_DETAIL_HANDLE_CALLS_HPP

#include "events.hpp"
#include "handle.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct begin_of_handle : begin_without_frame {
  pending& begun;

  explicit ADAPTYST_DETAIL_INLINE begin_of_handle(pending& into) noexcept : begun(into) {}
  ADAPTYST_DETAIL_INLINE void open(recorder& r, const row& where, const event_source& from) const noexcept {
    begun.path = where.path;
    begun.epoch = r.epoch;
    if (from.payload != nullptr)
      for (uint32_t at = 0; at != from.payload->count; ++at) begun.numbers[at] = from.payload->numbers[at];
    bump(r.begun, 1);
  }
  ADAPTYST_DETAIL_INLINE void start(const recorder& r) const noexcept {
    begun.begin = timestamp(r.owner->control.clock);
  }
};

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN pending begin_pending(site& marker, text name, uint32_t device,
                                                                       const payload_values* payload) noexcept {
  pending begun{};
  begin_of_handle how(begun);
  begin_event(how, {marker, name, device, payload});
  return begun;
}

// The end of a handle's region, recorded by the thread that ends it. Regions of an earlier collector are not recorded.
struct end_of_handle : end_with_probe {
  const pending& begun;
  uint64_t begin, end;
  uint64_t duration_ns;

  ADAPTYST_DETAIL_INLINE end_of_handle(const pending& of, uint64_t from, uint64_t to, uint64_t lasted_ns) noexcept
      : begun(of), begin(from), end(to), duration_ns(lasted_ns) {}
  ADAPTYST_DETAIL_INLINE row* close(recorder& r, ended_event& done) const noexcept {
    if (begun.epoch != r.epoch) return nullptr;
    loss why = loss::rows_full;
    row* const where = find_row(r, begun.path, why);
    if (where == nullptr) {
      count_loss(r, why);
      bump(r.begun, -1);  // a loss here counts as if the event was lost at its begin
      return nullptr;
    }
    done = {begun.path, begin, end, duration_ns, 0};
    bump(r.ended, 1);
    bump(where->count, 1);
    return where;
  }
  ADAPTYST_DETAIL_INLINE void book(recorder& r, row& where, const ended_event& done) const noexcept {
    add_numbers(where, done);
    if (r.ring != nullptr) trace(*r.ring, load(r.thread), traced::handle, done.path, done.begin, done.end);
  }

 protected:
  ADAPTYST_DETAIL_INLINE void add_numbers(row& where, const ended_event& done) const noexcept {
    for (uint32_t at = 0; at != done.path->site->attribute_count; ++at)
      add_attribute(where.attributes[at], begun.numbers[at]);
  }
};

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void end_handle(const pending& done) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  const clock_line& clock = r.owner->control.clock;
  const uint64_t end = timestamp(clock);
  end_event(r, end_of_handle(done, done.begin, end, to_duration_ns(clock, end - done.begin)));
}

}}}  // namespace adaptyst::v1::detail

#endif
