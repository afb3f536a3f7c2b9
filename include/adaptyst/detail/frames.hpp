// Frames of a recorder: the open regions of a thread, innermost last. events.hpp opens and closes them.
#ifndef ADAPTYST_DETAIL_FRAMES_HPP
#define ADAPTYST_DETAIL_FRAMES_HPP

#include "probe_calls.hpp"
#include "rows.hpp"
#include "site_records.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Place of a marker: no two live scopes share stack frame, code and site. Needs no frame pointer.
#define ADAPTYST_DETAIL_STACK() __builtin_dwarf_cfa()

// If a marker begins again at the same place, the frames above it were left by a jump. If a pair begins again while
// open, a return or jump skipped its end.
template <class = void>
ADAPTYST_DETAIL_INLINE void drop_abandoned_frames(recorder& r, const adaptyst_site* record, const void* stack,
                                                  const void* code) noexcept {
  for (uint32_t at = r.depth; at > r.base; --at) {
    const frame& open = r.frames[at];
    if (open.stack > stack) return;
    if (open.stack == stack && open.code == code && open.path->site == record) return abandon_frames(r, at - 1);
  }
}

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t open_frame(recorder& r, uint32_t depth, row& where, const void* stack,
                                           const void* code) noexcept {
  frame& opened = r.frames[depth + size_t{1}];
  const uint64_t serial = r.serial + 1;
  const uint64_t token = (serial << 12) | depth;
  store(r.serial, serial);
  opened.token = token;
  opened.where = &where;
  opened.path = where.path;
  opened.nested_ns = 0;
  opened.stack = stack;
  opened.code = code;
  store(opened.begin, 0);
  store(r.guess, where.child);
  store_release(r.depth, depth + 1);  // from here on the kernel may read the frame
  return token;
}

// Weight of the open regions of this thread: nested events inherit it.
template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t weight_around(const recorder& r) noexcept {
  const frame& top = r.frames[r.depth];
  return r.depth > r.base && (top.token & weighed_token) != 0 ? weight_in(top) : 1;
}

// With closed skip counts: true if an event is skipped with its enclosing region. If a jump left that region, its end
// never comes: the counts are opened, and later regions of this kind are all recorded. Events skipped in that region and
// after the jump count as unmatched, because the time of the jump is unknown.
//
// `closed_at`: stack pointer of the function with the region that closed the counts. `stack`: that of the marker's
// function. Functions called in the region are below `closed_at`. A marker above it is outside the region. The region's
// own marker at exactly this place has begun again.
template <class = void>
inline bool is_left_out_with_region(recorder& r, uint32_t step, const adaptyst_site* record,
                                    const void* stack) noexcept {
  constexpr uint32_t max_unseen_rounds = 1024;
  uint32_t& left = r.sampler->closed.skip_count[step];
  if (load(left) > 1) {  // the count of a marker without inline code for it
    store(left, load(left) - 1);
    return true;
  }
  const bool has_ended = reinterpret_cast<uintptr_t>(stack) > load(r.closed_at) ||
                         (reinterpret_cast<uintptr_t>(stack) == load(r.closed_at) && record == load(r.closed_by));
  const uint32_t rounds = load(r.unseen_rounds);
  if (!has_ended && rounds < max_unseen_rounds) {
    store(r.unseen_rounds, rounds + 1);
    store(left, max_left_out_unseen);
    return true;
  }
  count_left_out_unseen(r, rounds);
  for (uint32_t at = ADAPTYST_STEP_SUBTREE + 1; at <= ADAPTYST_STEP_LAST; ++at)
    store(r.sampler->open.skip_count[at], 0);
  r.never_closes = 1;
  open_skip_counts(r);
  return false;
}

// Notes the weight of a recorded event and, if its region had nested events before, the kind of the event (see
// is_carrier).
template <class = void>
ADAPTYST_DETAIL_INLINE void weigh(recorder& r, frame& pushed, uint64_t weight, uint64_t around) noexcept {
  row& where = *pushed.where;
  pushed.token |= weighed_token;
  pushed.weight = weight;
  if (weight == 1) return;
  pushed.token |= sampled_token;
  // Not for a wait, because its end is part of a union; nor if an enclosing region has closed the counts.
  const bool has_nested = where.child != &r.root && !is_wait(where.site->kind) && weight < max_weight &&
                          r.never_closes == 0 && !is_closed(r);
  if (has_nested) pushed.weight = (2 * weight) | (next_random(*r.sampler) >> 63 != 0 ? is_carrier : is_closing);
  if (around == 1) {
    r.cluster = pushed.token;
    r.cluster_weight = weight_in(pushed);
  }
  if ((pushed.weight & is_closing) != 0)
    close_skip_counts(r, &r.sampler->closed, where.site, reinterpret_cast<uintptr_t>(pushed.stack));
  store(r.guess, &r.root);  // the next begin takes the slow path
}

// The end of a phase, which is the begin of the next.
struct boundary {
  uint64_t timestamp = 0;    // 0: none, the begin has its own
  uint64_t ns_per_tick = 0;  // of the clock then
};

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t timestamp_of(const boundary& shared, const clock_line& clock) noexcept {
  const bool is_valid = shared.timestamp != 0 && shared.ns_per_tick == load(clock.ns_per_tick);
  return is_valid ? shared.timestamp : timestamp(clock);
}

// Reads the clock last, and fires the probe. A recorded event of a sampled marker has its own timestamp, after a fence.
template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t start_frame(recorder& r, frame& opened, const boundary& shared) noexcept {
  if ((opened.token & sampled_token) != 0) {
    if ((opened.weight & is_carrier) == 0) watch_core(r.watch);
    fence_instructions();
    opened.begin = timestamp(r.owner->control.clock);
  } else {
    opened.begin = timestamp_of(shared, r.owner->control.clock);
  }
  store(opened.where->open_since, opened.begin);
  if (ADAPTYST_DETAIL_UNLIKELY(load(adaptyst_object_v5.region_begin) != 0)) return fire_begin_probe(r, opened);
  return opened.token;
}

// Records data that few regions have: numbers, a timeline entry, a device, a wait.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void book_extras(recorder& r, row& where, uint32_t depth,
                                                                         uint64_t end, uint64_t duration_ns,
                                                                         uint64_t weight) noexcept {
  if (r.ring != nullptr) {
    if (weight == 1) trace(*r.ring, load(r.thread), traced::scope, where.path, r.frames[depth].begin, end);
    else bump(r.ring->sampled_out, weight);
  }
  for (uint32_t value = 0; value != where.site->attribute_count; ++value)
    add_attribute(where.attributes[value], r.values[depth][value], static_cast<double>(weight));
  if (!is_wait(where.site->kind)) return;
  const uint64_t end_ns = monotonic_ns();  // the clock of operations, which the calibrated counter only follows
  const uint64_t begin_ns = end_ns - duration_ns;
  const uint32_t device = where.path->device;
  if (device != 0)
    book_entry(*r.owner->store, r.epoch, r.booking, {begin_ns, end_ns, 0, 0, device, device_work::kernel});
  book_wait(r, device_work::wait_end, end_ns);
}

// Repairs the stack of frames at an unexpected end of a scope. Returns true if the scope's frame is now the innermost
// of this epoch.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline bool unwind_to(recorder& r, uint64_t token, uint32_t depth,
                                                                       uint64_t end) noexcept {
  const frame& closed = r.frames[depth];
  if (depth > r.depth || closed.token != token) {
    bump(r.orphans, 1);
    return false;
  }
  abandon_frames(r, depth);
  if (depth > r.base) return true;
  const clock_line& clock = r.owner->control.clock;
  r.frames[depth - 1].nested_ns += to_duration_ns(clock, end - closed.begin);
  store(r.depth, depth - 1);
  store(r.base, depth - 1);
  return false;
}

// The frame must be the innermost.
template <class = void>
ADAPTYST_DETAIL_INLINE void close_frame(recorder& r, row& where, uint32_t depth, uint64_t duration_ns,
                                        uint64_t weight) noexcept {
  store(r.depth, depth - 1);
  store(where.open_since, 0);
  store(r.guess, where.next);
  r.frames[depth - 1].nested_ns += duration_ns * weight;
  bump(r.ended, weight);
  bump(where.count, weight);
}

// Records an event with a weight; no probe is fired. Its frame counted as one begun event: the rest of its weight is
// added now. Nested events are already recorded.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void close_weighed(recorder& r, row& where, uint32_t depth,
                                                                           uint64_t end, uint64_t duration_ns,
                                                                           bool has_lost_core) noexcept {
  const frame& closed = r.frames[depth];
  const bool is_booked = (closed.weight & is_carrier) == 0;
  // Time of other threads is excluded: the event counts with the mean of the recorded events.
  if (ADAPTYST_DETAIL_UNLIKELY(has_lost_core)) {
    const uint64_t mean_ns = where.count != 0 ? where.total_ns / where.count : 0;
    if (mean_ns != 0 && mean_ns < duration_ns) duration_ns = mean_ns;
  }
  const uint64_t weight = is_booked ? weight_in(closed) : 0;
  if ((closed.weight & is_closing) != 0) open_skip_counts(r);
  bump(r.begun, weight - 1);
  close_frame(r, where, depth, duration_ns, weight);
  bump(where.nested_ns, closed.nested_ns);
  if (weight_around(r) != 1) store(r.guess, &r.root);
  if (!is_booked) return;
  const bool is_certain = weight == 1;
  add_weighed_duration(r, where, duration_ns, weight, is_certain ? closed.token : r.cluster,
                       is_certain ? 1 : r.cluster_weight);
  if (where.extras != is_made) book_extras(r, where, depth, end, duration_ns, weight);
}

}}}  // namespace adaptyst::v1::detail

#endif
