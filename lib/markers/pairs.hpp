// Regions that one call begins and another ends, on the same thread, with nothing passed from one to the other:
// ADAPTYST_BEGIN and ADAPTYST_END in C, adaptyst_begin and adaptyst_end in Fortran.
//
// An end ends the innermost pair that has a frame. An event that is left out under an overhead budget, or lost, has none:
// the recorder counts it in the frame around it, and the end that comes while that frame is the innermost is passed over.
#ifndef ADAPTYST_LIB_MARKERS_PAIRS_HPP
#define ADAPTYST_LIB_MARKERS_PAIRS_HPP

#include <adaptyst/detail/frames.hpp>

namespace adaptyst { inline namespace v1 { namespace detail {

// Where a begin stands, as of a scope. Nowhere, where all begins come through one call: then a begin whose end was
// jumped over is not recognised when it comes again.
struct pair_place {
  const void* stack;
  const void* code;
};
constexpr pair_place nowhere{nullptr, nullptr};

// In the code of the frame of a pair: no address of a program has this bit.
constexpr uintptr_t paired = uintptr_t{1} << 63;

inline bool is_paired(const frame& open) noexcept { return (reinterpret_cast<uintptr_t>(open.code) & paired) != 0; }

// The frame below all has no token; that of a thread which had the recorder before is another one.
inline uint64_t innermost(const recorder& r) noexcept { return r.depth != 0 ? r.frames[r.depth].token : r.generation; }

// Forgets what was counted in frames that are gone.
inline frameless_pairs* find_frameless(recorder& r) noexcept {
  for (; r.frameless_used != 0; --r.frameless_used) {
    frameless_pairs& last = r.frameless[r.frameless_used - 1];
    if (last.inside == innermost(r)) return &last;
    const uint32_t depth = 1 + static_cast<uint32_t>(last.inside & (max_depth - 1));
    if (last.inside == r.generation || (depth <= r.depth && r.frames[depth].token == last.inside)) return nullptr;
  }
  return nullptr;
}

inline void begin_frameless(recorder& r) noexcept {
  frameless_pairs* last = find_frameless(r);
  if (last == nullptr) {
    if (r.frameless_used == max_frameless_pairs) {
      __builtin_memmove(r.frameless, r.frameless + 1, sizeof r.frameless - sizeof *r.frameless);
      --r.frameless_used;
    }
    last = &r.frameless[r.frameless_used++];
    *last = {innermost(r), 0};
  }
  ++last->count;
}

inline bool end_frameless(recorder& r) noexcept {
  frameless_pairs* const last = find_frameless(r);
  if (last == nullptr) return false;
  if (--last->count == 0) --r.frameless_used;
  return true;
}

// Pairs of an earlier collector: their ends may have been passed while nothing listened.
inline void forget_earlier_pairs(recorder& r) noexcept {
  while (r.depth != 0 && r.depth == r.base && is_paired(r.frames[r.depth])) abandon_frames(r, r.depth - 1);
}

// A begin at a place where its pair is open already: the end was left out by a return or a jump.
inline void heal_pairs(recorder& r, const adaptyst_site* record, const pair_place& place, const void* code) noexcept {
  for (uint32_t at = r.depth; at > r.base; --at) {
    const frame& open = r.frames[at];
    if (open.stack > place.stack) return;
    if (open.stack == place.stack && open.code == code && open.path->site == record) return abandon_frames(r, at - 1);
  }
}

// Whether the thread's recorder is as it was when it was written last: found, not being written, and of this epoch. In a
// forked child the epoch is 0.
inline bool is_as_before(const recorder* own) noexcept {
  return ADAPTYST_DETAIL_LIKELY(reinterpret_cast<uintptr_t>(own) > 1 && !is_being_written(*own) &&
                                own->counting_epoch == load(own->owner->control.epoch));
}

// The fast path, as push_fast(); false: the pair has not been begun.
inline bool begin_pair_as_always(site& marker, const pair_place& place, const void* code) noexcept {
  recorder* const own = this_thread_recorder;
  if (!is_as_before(own)) return false;
  recorder& r = *own;
  frame* pushed;
  row* expected;
  {
    const writing now(r);
    const uint32_t depth = load(r.depth);
    const frame& top = r.frames[depth];
    row& where = *load(r.guess);
    const adaptyst_site* const record = load_acquire(marker.record);
    const bool as_always = where.site == record && where.identity == make_identity(r, 0) &&
                           where.path->parent == top.path && load(*record->step) == ADAPTYST_STEP_ENGINE &&
                           !is_closed(r) &&
                           (top.stack > place.stack || (top.stack == place.stack && top.code != code)) &&
                           depth < max_depth && load(adaptyst_object_v3.region_begin) == 0;
    if (!as_always) return false;
    pushed = &r.frames[depth + size_t{1}];
    expected = &where;
    open_frame(r, depth, where, place.stack, code);
  }
  pushed->begin = ticks();
  store(expected->open_since, pushed->begin);
  return true;
}

// Like push_called_back(): the row that followed here the last time is tried first. `name`: the site's own, or that of
// this event.
inline void begin_pair(site& marker, text name, const pair_place& place, uint32_t device = 0) noexcept {
  const bool is_somewhere = place.stack != nullptr;
  const void* const code = reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(place.code) | paired);
  if (is_somewhere && begin_pair_as_always(marker, place, code)) return;
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  frame* pushed;
  {
    const writing now(r);
    forget_earlier_pairs(r);
    const void* const stack = is_somewhere ? place.stack : reinterpret_cast<const void*>(stack_pointer());
    const bool is_waiting = is_wait(marker.kind);
    if (ADAPTYST_DETAIL_UNLIKELY(is_closed(r)) && !is_waiting &&
        is_left_out_with_region(r, ADAPTYST_STEP_ENGINE, nullptr, stack))
      return begin_frameless(r);
    row* where = load(r.guess);
    // The root, which stands for "no guess", has an identity that no thread and device have.
    const auto is_expected = [&] {
      if (where->identity != make_identity(r, device) || where->path->parent != current_path(r)) return false;
      if (marker.name != nullptr) return where->site == load_acquire(marker.record);
      return is_record_for(*where->site, name, marker.kind, marker.file, marker.function, marker.line);
    };
    const frame* top = &r.frames[r.depth];
    const bool may_be_open =
        is_somewhere && (top->stack < place.stack || (top->stack == place.stack && top->code == code));
    if (ADAPTYST_DETAIL_UNLIKELY(may_be_open || r.depth == max_depth || !is_expected())) {
      loss why = loss::tables_full;
      const adaptyst_site* const record = find_record(*r.owner, marker, name, nullptr);
      where = nullptr;
      if (record != nullptr) {
        if (is_deeper(r, *record)) return begin_frameless(r);
        if (is_somewhere) heal_pairs(r, record, place, code);
        why = r.depth == max_depth ? loss::too_deep : loss::tables_full;
        if (r.depth != max_depth && device <= max_devices) where = row_below(r, current_path(r), record, device, why);
      }
      if (where == nullptr) {
        count_loss(r, why);
        return begin_frameless(r);
      }
      top = &r.frames[r.depth];
    }
    // A region around others is never left out: those may stand anywhere on the stack.
    const uint32_t step = read_step(*where->site);
    const bool may_be_left_out = !is_waiting && where->child == &r.root && !takes_subtree(step);
    const uint64_t drawn_weight = may_be_left_out ? draw_weight(*r.thinned, step) : 1;
    if (drawn_weight == 0) return begin_frameless(r);
    const uint32_t depth = r.depth;
    link_row(r, depth, where);
    pushed = &r.frames[depth + size_t{1}];
    const uint64_t around = weight_around(r);
    open_frame(r, depth, *where, is_somewhere ? place.stack : top->stack, code);
    if (step != ADAPTYST_STEP_ENGINE || around != 1) weigh(r, *pushed, drawn_weight * around, around);
    if (is_waiting) book_wait(r, device_work::wait_begin, monotonic_ns());
  }
  start_frame(r, *pushed);
}

// The frame of the pair that an end without a site ends: the innermost. Of a site: the innermost of its pairs. 0: none.
inline uint32_t find_pair(const recorder& r, const adaptyst_site* record) noexcept {
  if (r.depth == 0 || record == nullptr) return is_paired(r.frames[r.depth]) ? r.depth : 0;
  for (uint32_t at = r.depth; at > r.base; --at)
    if (is_paired(r.frames[at]) && r.frames[at].path->site == record) return at;
  // Of an earlier epoch, whose paths may be gone.
  return r.depth == r.base && is_paired(r.frames[r.depth]) ? r.depth : 0;
}

// A begin of a region that is not known: there was no room for it, or its number is none.
inline void begin_unknown_pair() noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  const writing now(*opened);
  count_loss(*opened, loss::tables_full);
  begin_frameless(*opened);
}

// An end, while something listens, of what has been ended before.
inline void count_end_without_begin() noexcept {
  if (!is_awake()) return;
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  const writing now(*opened);
  bump(opened->orphans, 1);
}

// `record`: of the pair that must be the one; null: any, with `is_known` false: none that has a frame. What was begun in
// the pair, and has not ended, never will.
inline void end_pair(const adaptyst_site* record, bool is_known = true) noexcept {
  recorder* const own = this_thread_recorder;
  if (is_as_before(own) && own->frameless_used == 0 && is_known) {
    const frame& top = own->frames[own->depth];
    if (is_paired(top) && (record == nullptr || (own->depth > own->base && top.path->site == record)))
      return pop_fast(top.token);
  }
  // In a signal handler that interrupts the recorder, the begin has been counted as lost.
  if (reinterpret_cast<uintptr_t>(own) == 1 || (own != nullptr && is_own(*own) && is_being_written(*own))) return;
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  uint64_t token = 0;
  {
    const writing now(r);
    if (end_frameless(r)) return;
    const uint32_t at = is_known ? find_pair(r, record) : 0;
    if (at == 0) {
      bump(r.orphans, 1);
      return;
    }
    if (at != r.depth) abandon_frames(r, at);
    token = r.frames[at].token;
  }
  pop_fast(token);
}

}}}  // namespace adaptyst::v1::detail

#endif
