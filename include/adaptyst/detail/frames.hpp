// Regions that are open on a thread, innermost last: how they begin and end in its recorder.
//
// A region whose name is a literal, and which begins where the recorder expected it, takes the fast path: push_fast()
// and pop_fast() touch the recorder, two frames and one row, and call nothing. All other cases take the slow path,
// push_frame() and pop_frame().
#ifndef ADAPTYST_DETAIL_FRAMES_HPP
#define ADAPTYST_DETAIL_FRAMES_HPP

#include "rows.hpp"
#include "site_records.hpp"
#include "tell.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Where a marker stands: no two live scopes share stack frame, code and site. Needs no frame pointer.
#define ADAPTYST_DETAIL_STACK() __builtin_dwarf_cfa()

// Frames above a marker that begins again where it already stands were left by longjmp().
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
  store_release(r.depth, depth + 1);  // the kernel may look at the frame from here on
  return token;
}

// Whether the regions of this thread are recorded with a weight now: then what begins inside them is, too.
template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t weight_around(const recorder& r) noexcept {
  const frame& top = r.frames[r.depth];
  return r.depth > r.base && (top.token & weighed_token) != 0 ? weight_in(top) : 1;
}

// In gaps that are closed: whether an event is left out with the region around it. If that region has been left by a
// jump, its end will never come: from then on gaps are open, and further regions of this kind are recorded whenever
// they begin. What has been left out behind the jump counts as unmatched, and so do a few events before it, since the
// time of the jump is unknown.
//
// `closed_at` is the stack pointer of the function whose region has closed the gaps; `stack` is that of the marker's
// function. What the region calls stands below `closed_at`. So a marker above it is outside of the region; and if the
// region's own marker is met again just there, the region has begun anew.
template <class = void>
inline bool is_left_out_with_region(recorder& r, uint32_t step, const adaptyst_site* record,
                                    const void* stack) noexcept {
  constexpr uint32_t max_unseen_rounds = 1024;
  uint32_t& left = r.thinned->closed.gap[step];
  if (load(left) > 1) {  // that of a marker without inline code for it
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
  count_left_out_unseen(r);
  for (uint32_t at = ADAPTYST_STEP_SUBTREE + 1; at <= ADAPTYST_STEP_LAST; ++at) store(r.thinned->open.gap[at], 0);
  r.never_closes = 1;
  open_gaps(r);
  return false;
}

// For an event that is recorded with a weight: notes the weight and, if events have been nested in this region before,
// which of the two kinds the event is (see is_carrier).
template <class = void>
ADAPTYST_DETAIL_INLINE void weigh(recorder& r, frame& pushed, uint64_t weight, uint64_t around) noexcept {
  row& where = *pushed.where;
  pushed.token |= weighed_token;
  pushed.weight = weight;
  if (weight == 1) return;
  pushed.token |= thinned_token;
  // Not of a wait, whose end is part of a union; nor where gaps are closed by a region around it.
  const bool has_nested = where.child != &r.root && !is_wait(where.site->kind) && weight < max_weight &&
                          r.never_closes == 0 && !is_closed(r);
  if (has_nested) pushed.weight = (2 * weight) | (next_random(*r.thinned) >> 63 != 0 ? is_carrier : is_closing);
  if (around == 1) {
    r.cluster = pushed.token;
    r.cluster_weight = weight_in(pushed);
  }
  if ((pushed.weight & is_closing) != 0)
    close_gaps(r, &r.thinned->closed, where.site, reinterpret_cast<uintptr_t>(pushed.stack));
  store(r.guess, &r.root);  // what begins next takes the slow path
}

// Takes the time, at last, and fires the probe.
template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t start_frame(recorder& r, frame& opened) noexcept {
  if ((opened.token & thinned_token) != 0) {
    if ((opened.weight & is_carrier) == 0) watch_core(r.watch);
    fence_instructions();
  }
  opened.begin = timestamp(r.owner->control.clock);
  store(opened.where->open_since, opened.begin);
  if (ADAPTYST_DETAIL_UNLIKELY(load(adaptyst_object_v3.region_begin) != 0)) return tell_begin(r, opened);
  return opened.token;
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t push_frame(site& marker, text name, uint32_t device,
                                                                            const payload_values* payload,
                                                                            const void* stack,
                                                                            const void* code) noexcept {
  recorder* const opened = open_recorder();
  if (ADAPTYST_DETAIL_UNLIKELY(opened == nullptr)) return 0;
  recorder& r = *opened;
  frame* pushed;
  {
    const writing now(r);
    const adaptyst_site* const record = find_record(*r.owner, marker, name, payload);
    loss why = loss::tables_full;
    row* where = nullptr;
    if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr)) {
      count_loss(r, why);
      return 0;
    }
    if (ADAPTYST_DETAIL_UNLIKELY(is_deeper(r, *record))) return 0;
    const bool may_be_left_out = record->kind == ADAPTYST_SITE_REGION;
    const uint32_t step = read_step(*record);
    if (ADAPTYST_DETAIL_UNLIKELY(is_closed(r)) && may_be_left_out && is_left_out_with_region(r, step, record, stack))
      return 0;
    const bool is_drawn = may_be_left_out && (!takes_subtree(step) || r.never_closes == 0);
    const uint64_t drawn_weight = is_drawn ? draw_weight(*r.thinned, step) : 1;
    if (drawn_weight == 0) {
      if (!takes_subtree(step)) return 0;
      close_gaps(r, &r.thinned->closed, record, reinterpret_cast<uintptr_t>(stack));
      return closed_token;
    }
    drop_abandoned_frames(r, record, stack, code);
    const uint64_t around = weight_around(r);
    const uint64_t weight = drawn_weight * around;
    const uint32_t depth = r.depth;
    const auto lose = [&](loss reason) {
      count_loss(r, reason, weight);
      return uint64_t{0};
    };
    if (ADAPTYST_DETAIL_UNLIKELY(depth == max_depth)) return lose(loss::too_deep);
    where = device > max_devices ? nullptr : row_below(r, current_path(r), record, device, why);
    if (ADAPTYST_DETAIL_UNLIKELY(where == nullptr)) return lose(why);
    link_row(r, depth, where);
    pushed = &r.frames[depth + size_t{1}];
    open_frame(r, depth, *where, stack, code);
    if (step != ADAPTYST_STEP_ENGINE || around != 1) weigh(r, *pushed, weight, around);
    if (payload != nullptr)
      for (uint32_t at = 0; at != payload->count; ++at) r.values[depth + 1][at] = payload->numbers[at];
  }
  return start_frame(r, *pushed);
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t push_named(site& marker, uint32_t device,
                                                                            const void* stack,
                                                                            const void* code) noexcept {
  return push_frame(marker, {marker.name, marker.name_bytes}, device, nullptr, stack, code);
}

// The fast path of a begin.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t push_fast(site& marker, uint32_t device,
                                                                           const void* stack,
                                                                           const void* code) noexcept {
  recorder* const opened = this_thread_recorder;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(opened) <= 1 || is_being_written(*opened)))
    return push_named(marker, device, stack, code);
  recorder& r = *opened;
  // Before anything is written: in a forked child the epoch is 0, and the recorder its parent's.
  if (ADAPTYST_DETAIL_UNLIKELY(r.counting_epoch != load(r.owner->control.epoch)))
    return push_named(marker, device, stack, code);
  frame* pushed;
  row* expected;
  uint64_t token = 0;
  {
    const writing now(r);  // also while asking: a signal handler's markers must not change the answers
    const uint32_t depth = load(r.depth);
    const frame& top = r.frames[depth];
    row& where = *load(r.guess);
    pushed = &r.frames[depth + size_t{1}];
    expected = &where;
    // The root, which stands for "no guess", has an identity that no thread and device have.
    const adaptyst_site* const record = load_acquire(marker.record);
    const bool as_always = where.site == record && where.identity == make_identity(r, device) &&
                           load(*record->step) == ADAPTYST_STEP_ENGINE && !is_closed(r) &&
                           (top.stack > stack || (top.stack == stack && top.code != code)) && depth < max_depth &&
                           load(adaptyst_object_v3.region_begin) == 0;
    if (as_always) token = open_frame(r, depth, where, stack, code);
  }
  if (ADAPTYST_DETAIL_UNLIKELY(token == 0)) return push_named(marker, device, stack, code);
  pushed->begin = ticks();
  store(expected->open_since, pushed->begin);
  return token;
}

// Books what only few regions have: numbers, a place in a timeline, a device, a wait for one.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void book_extras(recorder& r, row& where, uint32_t depth,
                                                                         uint64_t end, uint64_t duration_ns,
                                                                         uint64_t weight) noexcept {
  if (r.ring != nullptr) {
    if (weight == 1) trace(*r.ring, load(r.thread), traced::scope, where.path, r.frames[depth].begin, end);
    else bump(r.ring->thinned, weight);
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

// Repairs the stack of frames when it is not as expected at the end of a scope. Returns whether the scope's frame is
// now the innermost of this epoch.
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

// To be called when the frame is the innermost.
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

// An event that has a weight is booked here and reported to no probe. Its frame has counted as one event that began:
// the rest of its weight is added now. What is nested in it has been booked already.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void close_weighed(recorder& r, row& where, uint32_t depth,
                                                                           uint64_t end, uint64_t duration_ns,
                                                                           bool has_lost_core) noexcept {
  const frame& closed = r.frames[depth];
  const bool is_booked = (closed.weight & is_carrier) == 0;
  // The time of other threads is not its own: it counts with the mean of the events that have been timed.
  if (ADAPTYST_DETAIL_UNLIKELY(has_lost_core)) {
    const uint64_t mean_ns = where.count != 0 ? where.total_ns / where.count : 0;
    if (mean_ns != 0 && mean_ns < duration_ns) duration_ns = mean_ns;
  }
  const uint64_t weight = is_booked ? weight_in(closed) : 0;
  if ((closed.weight & is_closing) != 0) open_gaps(r);
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

// The slow path of an end.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_frame(recorder& r, uint64_t token, uint32_t depth,
                                                                       uint64_t end,
                                                                       bool has_lost_core = false) noexcept {
  if (!is_ready(r)) return;
  const clock_line& clock = r.owner->control.clock;
  const frame& closed = r.frames[depth];
  uint64_t begin;
  uint64_t duration_ns;
  uint64_t self_ns;
  const adaptyst_path* path;
  {
    const writing now(r);
    const bool as_always = closed.token == token && r.depth == depth && depth > r.base;
    if (ADAPTYST_DETAIL_UNLIKELY(!as_always) && !unwind_to(r, token, depth, end)) return;
    begin = closed.begin;
    path = closed.path;
    duration_ns = to_duration_ns(clock, end - begin);
    row& where = *closed.where;
    if ((token & weighed_token) != 0) return close_weighed(r, where, depth, end, duration_ns, has_lost_core);
    self_ns = duration_ns > closed.nested_ns ? duration_ns - closed.nested_ns : 0;
    close_frame(r, where, depth, duration_ns, 1);
    if (load(adaptyst_object_v3.recorder) != 0) add_duration(r, where, duration_ns, closed.nested_ns);
    // The nested events have a weight: they stand also for events that are nested in others of this row.
    else if (ADAPTYST_DETAIL_UNLIKELY(closed.nested_ns > duration_ns))
      bump(where.nested_ns, closed.nested_ns - duration_ns);
    if (where.extras != is_made) book_extras(r, where, depth, end, duration_ns, 1);
  }
  if (load(adaptyst_object_v3.region_end) != 0) tell_end(*r.owner, begin, duration_ns, self_ns, path);
}

// The end of a region while the rate of the processor's counter is not known.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_by_clock(recorder& r, uint64_t token,
                                                                          uint32_t depth) noexcept {
  pop_frame(r, token, depth, monotonic_ns());
}

// Of an event that has a weight. How long timing it takes is not the program's time.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_weighed(recorder& r, uint64_t token,
                                                                         uint32_t depth) noexcept {
  if ((token & thinned_token) == 0) return pop_frame(r, token, depth, timestamp(r.owner->control.clock));
  fence_instructions();
  const uint64_t end = timestamp(r.owner->control.clock);
  const uint64_t lasted = end - r.frames[depth].begin;
  const uint64_t floor = load(r.owner->settings.thinned_floor);
  const bool is_timed = (r.frames[depth].weight & is_carrier) == 0;
  pop_frame(r, token, depth, floor < lasted ? end - floor : end - lasted, is_timed && has_lost_core(r.watch));
}

// The fast path of an end, for the program's own recorder alone. What it books in an epoch that is over is not read.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_fast(uint64_t token) noexcept {
  recorder* const opened = this_thread_recorder;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(opened) <= 1)) return;
  recorder& r = *opened;
  uint32_t depth = 1 + static_cast<uint32_t>(token & (max_depth - 1));
  // Otherwise the compiler would keep `depth - 1`, which is in the token, in a second register, and none is left.
  __asm__("" : "+r"(depth));
  if (ADAPTYST_DETAIL_UNLIKELY((token & weighed_token) != 0)) return pop_weighed(r, token, depth);
  const uint64_t slope = load(r.owner->control.clock.ns_per_tick);
  if (ADAPTYST_DETAIL_UNLIKELY(slope == 0)) return pop_by_clock(r, token, depth);  // also in a forked child
  const uint64_t end = ticks();
  bool as_always;
  {
    const writing now(r);
    const frame& closed = r.frames[depth];
    row* const where = closed.where;  // null if there never was a frame: this end belongs to another thread
    as_always = closed.token == token && r.depth == depth && where->extras == is_made &&
                load(adaptyst_object_v3.region_end) == 0 && load(adaptyst_object_v3.recorder) != 0;
    if (as_always) {
      const uint64_t duration_ns = in_ns(slope, end - closed.begin);
      as_always = has_bucket_for(*where, duration_ns);
      if (ADAPTYST_DETAIL_LIKELY(as_always)) {
        close_frame(r, *where, depth, duration_ns, 1);
        add_usual_duration(*where, duration_ns, closed.nested_ns, 1);
      }
    }
  }
  if (ADAPTYST_DETAIL_UNLIKELY(!as_always)) pop_frame(r, token, depth, end);
}

}}}  // namespace adaptyst::v1::detail

#endif
