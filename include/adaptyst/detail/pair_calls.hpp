// Regions that one call begins and another ends on the same thread, without a shared value: ADAPTYST_BEGIN and
// ADAPTYST_END in C++ and C, adaptyst_begin and adaptyst_end in Fortran.
//
// An end ends the innermost pair with a frame. A skipped or lost pair has none: the recorder counts it in the enclosing
// frame, and ignores the end that comes while that frame is innermost.
#ifndef ADAPTYST_DETAIL_PAIR_CALLS_HPP
#define ADAPTYST_DETAIL_PAIR_CALLS_HPP

#include "events.hpp"
#include "pair.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Bit in the code address of a pair's frame: no program address has it.
constexpr uintptr_t paired = uintptr_t{1} << 63;

template <class = void>
inline bool is_paired(const frame& open) noexcept {
  return (reinterpret_cast<uintptr_t>(open.code) & paired) != 0;
}

// The root frame has no token; `generation` differs for each thread that had the recorder.
template <class = void>
inline uint64_t innermost(const recorder& r) noexcept {
  return r.depth != 0 ? r.frames[r.depth].token : r.generation;
}

// Discards counts of closed frames.
template <class = void>
inline frameless_pairs* find_frameless(recorder& r) noexcept {
  for (; r.frameless_used != 0; --r.frameless_used) {
    frameless_pairs& last = r.frameless[r.frameless_used - 1];
    if (last.inside == innermost(r)) return &last;
    const uint32_t depth = 1 + static_cast<uint32_t>(last.inside & (max_depth - 1));
    if (last.inside == r.generation || (depth <= r.depth && r.frames[depth].token == last.inside)) return nullptr;
  }
  return nullptr;
}

template <class = void>
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

template <class = void>
inline bool end_frameless(recorder& r) noexcept {
  frameless_pairs* const last = find_frameless(r);
  if (last == nullptr) return false;
  if (--last->count == 0) --r.frameless_used;
  return true;
}

// Pairs of an earlier collector: their ends may have been skipped while idle.
template <class = void>
inline void forget_earlier_pairs(recorder& r) noexcept {
  while (r.depth != 0 && r.depth == r.base && is_paired(r.frames[r.depth])) abandon_frames(r, r.depth - 1);
}

// `HasPlace` is false if all begins come through one call. If a jump then skips the end of a pair, its next begin is
// not recognised as the same pair.
template <bool HasPlace>
struct begin_of_pair : begin_with_frame {
  static constexpr leaving leaves_out = leaving::by_row;
  static constexpr bool has_place = HasPlace;
  using begin_with_frame::begin_with_frame;

  ADAPTYST_DETAIL_INLINE void prepare(recorder& r) const noexcept { forget_earlier_pairs(r); }
  ADAPTYST_DETAIL_INLINE void drop(recorder& r) const noexcept { begin_frameless(r); }
  ADAPTYST_DETAIL_INLINE bool is_record_with_numbers(const adaptyst_site&, const payload_values*) const noexcept {
    return true;  // pairs have no payload
  }
};

template <bool HasPlace>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void open_pair(site& marker, text name, uint32_t device,
                                                                       const void* stack, const void* code) noexcept {
  begin_of_pair<HasPlace> how(stack, code);
  begin_event(how, {marker, name, device, nullptr});
}

template <class = void>
inline const void* paired_code(const void* code) noexcept {
  return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(code) | paired);
}

// A begin with the name of the site, at the place of the caller.
template <class = void>
ADAPTYST_DETAIL_INLINE void begin_pair_at(site& marker, const void* stack, const void* code) noexcept {
  code = paired_code(code);
  if (ADAPTYST_DETAIL_LIKELY(begin_as_expected(expected_marker<true>{marker, stack, code}) != 0)) return;
  open_pair<true>(marker, {marker.name, marker.name_bytes}, 0, stack, code);
}

// A begin with a name that comes with the event.
template <class = void>
ADAPTYST_DETAIL_INLINE void begin_named_pair(site& marker, text name, uint32_t device = 0) noexcept {
  open_pair<false>(marker, name, device, nullptr, paired_code(nullptr));
}

// Depth of the pair to end: the innermost pair, or the innermost of the site `record`. 0: none.
template <class = void>
inline uint32_t find_pair(const recorder& r, const adaptyst_site* record) noexcept {
  if (r.depth == 0 || record == nullptr) return is_paired(r.frames[r.depth]) ? r.depth : 0;
  for (uint32_t at = r.depth; at > r.base; --at)
    if (is_paired(r.frames[at]) && r.frames[at].path->site == record) return at;
  // A pair of an earlier epoch: its path may be gone.
  return r.depth == r.base && is_paired(r.frames[r.depth]) ? r.depth : 0;
}

// A begin of an unknown region: there was no room for it, or its number is invalid.
template <class = void>
inline void begin_unknown_pair() noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  const writing now(*opened);
  count_loss(*opened, loss::tables_full);
  begin_frameless(*opened);
}

// `record`: the pair to end; null: any pair, or none with a frame if `is_known` is false. Regions that are open in the
// pair are closed as unmatched.
template <class = void>
inline void end_pair(const adaptyst_site* record, bool is_known = true) noexcept {
  recorder* const own = this_thread_recorder;
  if (is_as_before(own) && own->frameless_used == 0 && is_known) {
    const frame& top = own->frames[own->depth];
    if (is_paired(top) && (record == nullptr || (own->depth > own->base && top.path->site == record)))
      return end_frame(top.token);
  }
  // In a signal handler that interrupts the recorder, the begin was counted as lost.
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
  end_frame(token);
}

template <class>
ADAPTYST_DETAIL_COLD void begin_literal_pair(site& marker) noexcept {
  begin_pair_at(marker, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

template <class>
ADAPTYST_DETAIL_COLD void begin_pair_with(site& marker, text name) noexcept {
  begin_named_pair(marker, name);
}

template <class>
ADAPTYST_DETAIL_COLD void end_innermost_pair() noexcept {
  end_pair(nullptr);
}

}}}  // namespace adaptyst::v1::detail

#endif
