// Begin and end of events: begin_event() and end_event(), with a policy per kind of event.
//
// A policy is a struct with the differences: frame, place on the stack, events that an overhead budget skips, data for
// the end. The common part is here: levels, closed skip counts, rows, losses, weights, durations, probes.
//
// | policy | in | frame | skipped by a budget |
// |---|---|---|---|
// | begin_of_scope | scope_calls.hpp | with a place | the marker's events, perhaps with all nested events |
// | begin_of_wait | offload_scope_calls.hpp | with a place | never |
// | begin_of_pair | pair_calls.hpp | with or without a place | events of rows without nested events |
// | begin_of_callback | adapter/callback_region.hpp | without a place | events of rows without nested events |
// | begin_of_handle | handle_calls.hpp | none | never |
// | begin_of_operation | operations_calls.hpp | none | never |
// | instant | instant_calls.hpp | none | by the marker's inline code only |
//
// The fast path is for a marker with a literal name, or a callback region without numbers, that begins where expected:
// begin_as_expected() and end_frame() touch the recorder, two frames and one row. Others take the slow path:
// begin_event() and end_frame_carefully().
#ifndef ADAPTYST_DETAIL_EVENTS_HPP
#define ADAPTYST_DETAIL_EVENTS_HPP

#include "frames.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// The marker, and the data of its event.
struct ADAPTYST_DETAIL_HIDDEN event_source {
  site& marker;
  text name;  // name of the marker, or of this event
  uint32_t device;
  const payload_values* payload;
};

// How an overhead budget skips events.
enum class leaving {
  none,
  by_marker,  // by the step of the marker, perhaps with all nested events
  // only if the row has no nested events: they may be anywhere on the stack, or on other threads
  by_row,
};

// Policies of begins derive from one of these two, and hide the members that differ.
struct begin_without_frame {
  static constexpr bool has_frame = false;
  static constexpr bool has_place = false;
  static constexpr leaving leaves_out = leaving::none;
  // Called before any search. True: the event is skipped.
  ADAPTYST_DETAIL_INLINE bool is_passed_over(recorder&, const event_source&) const noexcept { return false; }
  ADAPTYST_DETAIL_INLINE void prepare(recorder&) const noexcept {}
  ADAPTYST_DETAIL_INLINE void remember(const adaptyst_site*) const noexcept {}
  // The event is skipped or lost, and has no end here.
  ADAPTYST_DETAIL_INLINE void drop(recorder&) const noexcept {}
  ADAPTYST_DETAIL_INLINE const adaptyst_path* parent(const recorder& r) const noexcept { return current_path(r); }
  ADAPTYST_DETAIL_INLINE boundary shared() const noexcept { return {}; }
};

struct begin_with_frame : begin_without_frame {
  static constexpr bool has_frame = true;
  // False: no place (stack frame and code); its frame has the stack frame of the frame below.
  static constexpr bool has_place = true;
  const void* stack;
  const void* code;
  frame* pushed = nullptr;

  ADAPTYST_DETAIL_INLINE begin_with_frame(const void* at, const void* by) noexcept : stack(at), code(by) {}
  // True if the host waits in events of this kind: they are never skipped.
  static ADAPTYST_DETAIL_INLINE bool is_waiting(uint32_t kind) noexcept { return kind != ADAPTYST_SITE_CALLBACK; }
  ADAPTYST_DETAIL_INLINE void keep_numbers(recorder& r, uint32_t depth, const payload_values* payload) const noexcept {
    if (payload == nullptr) return;
    for (uint32_t at = 0; at != payload->count; ++at) r.values[depth][at] = payload->numbers[at];
  }
};

// True if the thread's recorder is found, not being written, and of this epoch. Precedes any write: in a forked child
// the epoch is 0, and the recorder belongs to the parent.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_as_before(const recorder* own) noexcept {
  return ADAPTYST_DETAIL_LIKELY(reinterpret_cast<uintptr_t>(own) > 1 && !is_being_written(*own) &&
                                own->counting_epoch == load(own->owner->control.epoch));
}

// The fast path of a begin, on the host: the expected row, if it is the event's. Returns the token; 0: not begun.
//
// `how.matches()`: whether the row, with its record, is the event's. `how.is_new()`: whether no frame has its place yet.
template <class How>
ADAPTYST_DETAIL_INLINE uint64_t begin_as_expected(const How& how, const boundary& shared = {}) noexcept {
  recorder* const own = this_thread_recorder;
  if (!is_as_before(own)) return 0;
  recorder& r = *own;
  frame* pushed;
  row* expected;
  uint64_t token = 0;
  {
    const writing now(r);  // also while reading: a signal handler's markers must not change the values
    const uint32_t depth = load(r.depth);
    const frame& top = r.frames[depth];
    row& where = *load(r.guess);
    const adaptyst_site* const record = where.site;
    pushed = &r.frames[depth + size_t{1}];
    expected = &where;
    const bool is_unchanged = how.matches(r, where, record, top) && load(*record->step) == ADAPTYST_STEP_ENGINE &&
                              !is_closed(r) && how.is_new(top) && depth < max_depth &&
                              load(adaptyst_object_v5.region_begin) == 0;
    if (is_unchanged) token = open_frame(r, depth, where, how.get_stack(top), how.code);
  }
  if (ADAPTYST_DETAIL_UNLIKELY(token == 0)) return 0;
  pushed->begin = shared.ns_per_tick != 0 ? shared.timestamp : ticks();
  store(expected->open_since, pushed->begin);
  return token;
}

// A marker with a literal name. `checks_parent`: see link_row().
template <bool checks_parent>
struct ADAPTYST_DETAIL_HIDDEN expected_marker {
  const site& marker;
  const void* stack;
  const void* code;

  // The root means "no guess": its identity belongs to no thread and device.
  ADAPTYST_DETAIL_INLINE bool matches(const recorder& r, const row& where, const adaptyst_site* record,
                                      const frame& top) const noexcept {
    return record == load_acquire(marker.record) && where.identity == make_identity(r, 0) &&
           (!checks_parent || where.path->parent == top.path);
  }
  ADAPTYST_DETAIL_INLINE bool is_new(const frame& top) const noexcept {
    return top.stack > stack || (top.stack == stack && top.code != code);
  }
  ADAPTYST_DETAIL_INLINE const void* get_stack(const frame&) const noexcept { return stack; }
};

// The row that followed here last time, if it matches the event; else null.
template <class How>
ADAPTYST_DETAIL_INLINE row* find_guessed_row(const recorder& r, const How& how, const event_source& from) noexcept {
  if (r.depth == max_depth) return nullptr;
  const frame& top = r.frames[r.depth];
  // It may be open already, if a jump skipped its end.
  if (How::has_place && (top.stack < how.stack || (top.stack == how.stack && top.code == how.code))) return nullptr;
  row* const guessed = load(r.guess);
  // The root means "no guess": its identity belongs to no thread and device.
  if (guessed->identity != make_identity(r, from.device) || guessed->path->parent != how.parent(r)) return nullptr;
  const site& marker = from.marker;
  const bool is_of_marker = marker.name != nullptr ? guessed->site == load_acquire(marker.record)
                                                   : is_record_for(*guessed->site, from.name, marker.kind, marker.file,
                                                                   marker.function, marker.line) &&
                                                         how.is_record_with_numbers(*guessed->site, from.payload);
  return is_of_marker ? guessed : nullptr;
}

// Where an event begins, and for how many it counts.
struct begun_event {
  row* where = nullptr;
  uint32_t step = ADAPTYST_STEP_ENGINE;
  uint64_t weight = 1;
  uint32_t depth = 0;
  uint64_t around = 1;  // on this thread, even if the event is below a region of another thread

  ADAPTYST_DETAIL_INLINE void find_enclosing(const recorder& r) noexcept {
    depth = r.depth;
    around = weight_around(r);
  }
};

// The row of the event's call site. False: the event is not recorded, and its begin returns `token`. Losses are counted
// here.
template <class How>
ADAPTYST_DETAIL_INLINE bool find_row(recorder& r, How& how, const event_source& from, begun_event& event,
                                     uint64_t& token) noexcept {
  const auto pass_over = [&] {
    how.drop(r);
    return false;
  };
  loss why = loss::tables_full;
  const adaptyst_site* const record = find_record(*r.owner, from.marker, from.name, from.payload);
  how.remember(record);
  if (ADAPTYST_DETAIL_LIKELY(record != nullptr)) {
    if (ADAPTYST_DETAIL_UNLIKELY(is_deeper(r, *record))) return pass_over();
    if constexpr (How::leaves_out == leaving::by_marker) {
      event.step = read_step(*record);
      if (ADAPTYST_DETAIL_UNLIKELY(is_closed(r)) && is_left_out_with_region(r, event.step, record, how.stack))
        return false;
      if (!takes_subtree(event.step) || r.never_closes == 0) event.weight = draw_weight(*r.sampler, event.step);
      if (event.weight == 0) {
        if (!takes_subtree(event.step)) return false;
        close_skip_counts(r, &r.sampler->closed, record, reinterpret_cast<uintptr_t>(how.stack));
        token = closed_token;
        return false;
      }
    }
    if constexpr (How::has_place) drop_abandoned_frames(r, record, how.stack, how.code);
    if constexpr (How::has_frame) event.find_enclosing(r);
    if (How::has_frame && ADAPTYST_DETAIL_UNLIKELY(event.depth == max_depth)) why = loss::too_deep;
    else if (ADAPTYST_DETAIL_LIKELY(from.device <= max_devices))
      event.where = row_below(r, how.parent(r), record, from.device, why);
  }
  if (ADAPTYST_DETAIL_LIKELY(event.where != nullptr)) return true;
  count_loss(r, why, event.weight * event.around);
  return pass_over();
}

// The slow path of a begin; the only path of events without a frame. Returns the token of the frame; 0: none.
template <class How>
ADAPTYST_DETAIL_INLINE uint64_t begin_event(How& how, const event_source& from) noexcept {
  recorder* const opened = open_recorder();
  if (ADAPTYST_DETAIL_UNLIKELY(opened == nullptr)) return 0;
  recorder& r = *opened;
  {
    const writing now(r);
    const auto pass_over = [&] {
      how.drop(r);
      return uint64_t{0};
    };
    how.prepare(r);
    if constexpr (How::leaves_out == leaving::by_row) {
      const void* const stack = How::has_place ? how.stack : reinterpret_cast<const void*>(stack_pointer());
      if (ADAPTYST_DETAIL_UNLIKELY(is_closed(r)) && !how.is_waiting(from.marker.kind) &&
          is_left_out_with_region(r, ADAPTYST_STEP_ENGINE, nullptr, stack))
        return pass_over();
    }
    if (how.is_passed_over(r, from)) return pass_over();

    begun_event event;
    if constexpr (How::leaves_out == leaving::by_row) event.where = find_guessed_row(r, how, from);
    uint64_t token = 0;
    if (event.where == nullptr && !find_row(r, how, from, event, token)) return token;
    if constexpr (How::leaves_out == leaving::by_row) {
      event.step = read_step(*event.where->site);
      if (!how.is_waiting(from.marker.kind) && event.where->child == &r.root && !takes_subtree(event.step))
        event.weight = draw_weight(*r.sampler, event.step);
      if (event.weight == 0) return pass_over();
      event.find_enclosing(r);
    }
    if constexpr (How::has_frame) {
      link_row(r, event.depth, event.where);
      frame& pushed = r.frames[event.depth + size_t{1}];
      open_frame(r, event.depth, *event.where, How::has_place ? how.stack : r.frames[event.depth].stack, how.code);
      if (event.step != ADAPTYST_STEP_ENGINE || event.around != 1)
        weigh(r, pushed, event.weight * event.around, event.around);
      how.keep_numbers(r, event.depth + 1, from.payload);
      if (how.is_waiting(from.marker.kind)) book_wait(r, device_work::wait_begin, monotonic_ns());
      how.pushed = &pushed;
    } else {
      how.open(r, *event.where, from);
    }
  }
  if constexpr (How::has_frame) {
    return start_frame(r, *how.pushed, how.shared());
  } else {
    how.start(r);
    return 0;
  }
}

// An ended event, in timestamps.
struct ended_event {
  const adaptyst_path* path;
  uint64_t begin, end;
  uint64_t duration_ns, nested_ns;
};

// Records an event and fires the probe. False: not recorded, or recorded by its policy.
//
// `how.close()` finds the row and counts the event; null: none. `how.book()` adds data of this kind of event.
// `how.report()` fires the probe.
template <class How>
ADAPTYST_DETAIL_INLINE bool end_event(recorder& r, const How& how) noexcept {
  ended_event done;
  {
    const writing now(r);
    row* const where = how.close(r, done);
    if (where == nullptr) return false;
    if (load(adaptyst_object_v5.recorder) != 0) add_duration(r, *where, done.duration_ns, done.nested_ns);
    // The nested events have a weight: they also represent events nested in other events of this row.
    else if (ADAPTYST_DETAIL_UNLIKELY(done.nested_ns > done.duration_ns))
      bump(where->nested_ns, done.nested_ns - done.duration_ns);
    how.book(r, *where, done);
  }
  if (load(adaptyst_object_v5.region_end) != 0) how.report(r, done);
  return true;
}

// For events without a separate probe.
struct end_with_probe {
  ADAPTYST_DETAIL_INLINE void report(const recorder& r, const ended_event& done) const noexcept {
    const uint64_t self_ns = done.duration_ns > done.nested_ns ? done.duration_ns - done.nested_ns : 0;
    fire_end_probe(*r.owner, done.begin, done.duration_ns, self_ns, done.path);
  }
};

// The end of an event with a frame: a scope, a pair or a callback region.
struct end_of_frame : end_with_probe {
  uint64_t token;
  uint32_t depth;
  uint64_t end;
  bool has_lost_core;

  ADAPTYST_DETAIL_INLINE end_of_frame(uint64_t of, uint32_t at, uint64_t when, bool lost) noexcept
      : token(of), depth(at), end(when), has_lost_core(lost) {}
  ADAPTYST_DETAIL_INLINE row* close(recorder& r, ended_event& done) const noexcept {
    const frame& closed = r.frames[depth];
    const bool is_unchanged = closed.token == token && r.depth == depth && depth > r.base;
    if (ADAPTYST_DETAIL_UNLIKELY(!is_unchanged) && !unwind_to(r, token, depth, end)) return nullptr;
    const uint64_t duration_ns = to_duration_ns(r.owner->control.clock, end - closed.begin);
    row& where = *closed.where;
    if ((token & weighed_token) != 0) {
      close_weighed(r, where, depth, end, duration_ns, has_lost_core);
      return nullptr;
    }
    done = {closed.path, closed.begin, end, duration_ns, closed.nested_ns};
    close_frame(r, where, depth, duration_ns, 1);
    return &where;
  }
  ADAPTYST_DETAIL_INLINE void book(recorder& r, row& where, const ended_event& done) const noexcept {
    if (where.extras != is_made) book_extras(r, where, depth, end, done.duration_ns, 1);
  }
};

// The slow path of an end.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void end_frame_carefully(recorder& r, uint64_t token,
                                                                                 uint32_t depth, uint64_t end,
                                                                                 bool has_lost_core = false) noexcept {
  if (is_ready(r)) end_event(r, end_of_frame(token, depth, end, has_lost_core));
}

// The end of a region while the counter's rate is unknown.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void end_frame_by_clock(recorder& r, uint64_t token,
                                                                                uint32_t depth) noexcept {
  end_frame_carefully(r, token, depth, monotonic_ns());
}

// The end of an event with a weight. The cost of timing is not the program's time.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void end_weighed_frame(recorder& r, uint64_t token,
                                                                               uint32_t depth) noexcept {
  if ((token & sampled_token) == 0) return end_frame_carefully(r, token, depth, timestamp(r.owner->control.clock));
  fence_instructions();
  const uint64_t end = timestamp(r.owner->control.clock);
  const uint64_t lasted = end - r.frames[depth].begin;
  const uint64_t floor = load(r.owner->settings.sampled_floor);
  const bool is_timed = (r.frames[depth].weight & is_carrier) == 0;
  end_frame_carefully(r, token, depth, floor < lasted ? end - floor : end - lasted, is_timed && has_lost_core(r.watch));
}

ADAPTYST_DETAIL_INLINE uint32_t depth_in(uint64_t token) noexcept {
  return 1 + static_cast<uint32_t>(token & (max_depth - 1));
}

// The fast path of an end, for the program's recorder only, at a tick of the counter. An entry of an earlier epoch is
// not read.
template <class = void>
ADAPTYST_DETAIL_INLINE void end_frame_at(recorder& r, uint64_t token, uint32_t depth, uint64_t slope,
                                         uint64_t end) noexcept {
  bool is_unchanged;
  {
    const writing now(r);
    const frame& closed = r.frames[depth];
    row* const where = closed.where;  // null if there was no frame: this end belongs to another thread
    is_unchanged = closed.token == token && r.depth == depth && where->extras == is_made &&
                   load(adaptyst_object_v5.region_end) == 0 && load(adaptyst_object_v5.recorder) != 0;
    if (is_unchanged) {
      const uint64_t duration_ns = in_ns(slope, end - closed.begin);
      is_unchanged = has_bucket_for(*where, duration_ns);
      if (ADAPTYST_DETAIL_LIKELY(is_unchanged)) {
        close_frame(r, *where, depth, duration_ns, 1);
        add_usual_duration(*where, duration_ns, closed.nested_ns);
      }
    }
  }
  if (ADAPTYST_DETAIL_UNLIKELY(!is_unchanged)) end_frame_carefully(r, token, depth, end);
}

template <class = void>
ADAPTYST_DETAIL_INLINE void end_frame_in(recorder& r, uint64_t token) noexcept {
  uint32_t depth = depth_in(token);
  // Otherwise the compiler would keep `depth - 1`, which is in the token, in a second register; none is free.
  __asm__("" : "+r"(depth));
  if (ADAPTYST_DETAIL_UNLIKELY((token & weighed_token) != 0)) return end_weighed_frame(r, token, depth);
  const uint64_t slope = load(r.owner->control.clock.ns_per_tick);
  if (ADAPTYST_DETAIL_UNLIKELY(slope == 0)) return end_frame_by_clock(r, token, depth);  // also in a forked child
  end_frame_at(r, token, depth, slope, ticks());
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void end_frame(uint64_t token) noexcept {
  recorder* const opened = this_thread_recorder;
  if (ADAPTYST_DETAIL_LIKELY(reinterpret_cast<uintptr_t>(opened) > 1)) end_frame_in(*opened, token);
}

// An end without a begin, or a second end.
template <class = void>
ADAPTYST_DETAIL_COLD inline void count_end_without_begin() noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  const writing now(*opened);
  bump(opened->orphans, 1);
}

}}}  // namespace adaptyst::v1::detail

#endif
