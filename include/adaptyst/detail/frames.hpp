// Regions that are open on a thread, innermost last: how they begin and end in its recorder.
//
// A region whose name is a literal, and which follows its like on this thread, takes the short way: push_again() and
// pop_again() touch the recorder, two frames and one row, and call nothing. Whatever is not as it nearly always is goes
// the long way, push_frame() and pop_frame().
#ifndef ADAPTYST_DETAIL_FRAMES_HPP
#define ADAPTYST_DETAIL_FRAMES_HPP

#include "rows.hpp"
#include "site.hpp"
#include "tell.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Where a marker stands: no two live scopes share stack frame, code and site. Without a frame pointer.
#define ADAPTYST_DETAIL_STACK() __builtin_dwarf_cfa()

// Frames above a marker that begins again where it already stands were left by longjmp().
template <class = void>
ADAPTYST_DETAIL_INLINE void heal(recorder& r, const adaptyst_site* record, const void* stack,
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

// Takes the time, at last, and tells whoever listens.
template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t start_frame(recorder& r, frame& opened) noexcept {
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
    const adaptyst_site* const record = record_of(*r.owner, marker, name, payload);
    loss why = loss::tables_full;
    row* where = nullptr;
    if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr)) {
      count_loss(r, why);
      return 0;
    }
    const uint32_t step = step_of(*record);
    const uint64_t weight = step == ADAPTYST_STEP_ENGINE ? 1 : weight_of_next(*r.left_out, step);
    if (weight == 0) return 0;
    heal(r, record, stack, code);
    const uint32_t depth = r.depth;
    const auto lose = [&](loss reason) {
      count_loss(r, reason, weight);
      return uint64_t{0};
    };
    if (ADAPTYST_DETAIL_UNLIKELY(depth == most_depth)) return lose(loss::too_deep);
    where = device > most_devices ? nullptr : row_below(r, current_path(r), record, device, why);
    if (ADAPTYST_DETAIL_UNLIKELY(where == nullptr)) return lose(why);
    learn(r, depth, where);
    pushed = &r.frames[depth + size_t{1}];
    open_frame(r, depth, *where, stack, code);
    if (step != ADAPTYST_STEP_ENGINE) {
      pushed->weight = weight;
      store(where->extras, where->extras | weighed);
    }
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

// The short way in.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t push_again(site& marker, uint32_t device,
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
    const bool as_always = where.site == record && where.identity == identity_of(r, device) &&
                           load(*record->step) == ADAPTYST_STEP_ENGINE &&
                           (top.stack > stack || (top.stack == stack && top.code != code)) && depth < most_depth &&
                           load(adaptyst_object_v3.region_begin) == 0;
    if (as_always) token = open_frame(r, depth, where, stack, code);
  }
  if (ADAPTYST_DETAIL_UNLIKELY(token == 0)) return push_named(marker, device, stack, code);
  pushed->begin = ticks();
  store(expected->open_since, pushed->begin);
  return token;
}

// What few regions have: numbers, a place in a timeline, a device, a wait for one.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void book_extras(recorder& r, row& where, uint32_t depth,
                                                                         uint64_t end, uint64_t duration_ns,
                                                                         uint64_t weight) noexcept {
  if (r.ring != nullptr) trace(*r.ring, load(r.thread), traced::scope, where.path, r.frames[depth].begin, end);
  for (uint32_t value = 0; value != where.site->attribute_count; ++value)
    add_attribute(where.attributes[value], r.values[depth][value], static_cast<double>(weight));
  if (!is_wait(where.site->kind)) return;
  const uint64_t end_ns = monotonic_ns();  // the clock of operations, which the calibrated counter only follows
  const uint64_t begin_ns = end_ns - duration_ns;
  const uint32_t device = where.path->device;
  if (device != 0)
    with_ledger(r.owner->store->ledger, r.epoch, [=](device_ledger& all) {
      all.add({begin_ns, end_ns, 0, 0, device, device_work::kernel});
    });
  book_wait(r, device_work::wait_end, end_ns);
}

// Sets right what is not as it should be at the end of a scope; whether its frame is now the innermost of this epoch.
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

// The frame is the innermost.
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

// An event that has a weight: booked here, and told to nobody. The frame counted as one begun.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void close_weighed(recorder& r, row& where, uint32_t depth,
                                                                           uint64_t end,
                                                                           uint64_t duration_ns) noexcept {
  const frame& closed = r.frames[depth];
  store(where.extras, where.extras & ~weighed);
  bump(r.begun, closed.weight - 1);
  close_frame(r, where, depth, duration_ns, closed.weight);
  add_weighed_duration(where, duration_ns, closed.nested_ns, closed.weight);
  if (where.extras != is_made) book_extras(r, where, depth, end, duration_ns, closed.weight);
}

// The long way out.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_frame(recorder& r, uint64_t token, uint32_t depth,
                                                                       uint64_t end) noexcept {
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
    if ((where.extras & weighed) != 0) return close_weighed(r, where, depth, end, duration_ns);
    self_ns = duration_ns > closed.nested_ns ? duration_ns - closed.nested_ns : 0;
    close_frame(r, where, depth, duration_ns, 1);
    if (load(adaptyst_object_v3.recorder) != 0) add_duration(where, duration_ns, closed.nested_ns);
    // What is nested has a weight, and stands for what lies in other events of this row as well.
    else if (ADAPTYST_DETAIL_UNLIKELY(closed.nested_ns > duration_ns))
      bump(where.nested_ns, closed.nested_ns - duration_ns);
    if (where.extras != is_made) book_extras(r, where, depth, end, duration_ns, 1);
  }
  if (load(adaptyst_object_v3.region_end) != 0) tell_end(*r.owner, begin, duration_ns, self_ns, path);
}

// Without a counter whose rate is known.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_by_clock(recorder& r, uint64_t token,
                                                                          uint32_t depth) noexcept {
  pop_frame(r, token, depth, monotonic_ns());
}

// The short way out, for the program's own recorder alone. Of an epoch that is over, nobody reads what it books.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_again(uint64_t token) noexcept {
  recorder* const opened = this_thread_recorder;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(opened) <= 1)) return;
  recorder& r = *opened;
  const uint32_t depth = 1 + static_cast<uint32_t>(token & (most_depth - 1));
  const uint64_t slope = load(r.owner->control.clock.ns_per_tick);
  if (ADAPTYST_DETAIL_UNLIKELY(slope == 0)) return pop_by_clock(r, token, depth);  // also in a child that has forked
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
      close_frame(r, *where, depth, duration_ns, 1);
      add_duration(*where, duration_ns, closed.nested_ns);
    }
  }
  if (ADAPTYST_DETAIL_UNLIKELY(!as_always)) pop_frame(r, token, depth, end);
}

}}}  // namespace adaptyst::v1::detail

#endif
