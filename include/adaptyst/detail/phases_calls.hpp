// Functions of an enabled ADAPTYST_NEXT: one timestamp ends a phase and begins the next.
//
// The work of the recorder between both is in the next phase, also the trap of the ebpf engine: only this leaves no gap.
#ifndef ADAPTYST_DETAIL_PHASES_CALLS_HPP
#define ADAPTYST_DETAIL_PHASES_CALLS_HPP

#include "phases.hpp"
#include "scope_calls.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// True if the program's recorder is enabled, and no probe of regions.
ADAPTYST_DETAIL_INLINE bool is_only_recorded() noexcept {
  using four __attribute__((may_alias)) = const volatile uint64_t;
  const uint64_t semaphores = *reinterpret_cast<four*>(&adaptyst_object_v5);
  return static_cast<uint32_t>(semaphores) == 0 && semaphores >> 48 != 0;
}

// The fast path: the phase is the innermost region, ends as end_frame_at() expects, and the next begins as
// begin_as_expected() expects. Its frame is used again. Returns the token; 0: nothing has changed.
template <class How>
ADAPTYST_DETAIL_INLINE uint64_t replace_frame(const How& how, uint64_t token) noexcept {
  recorder* const own = this_thread_recorder;
  if (!is_only_recorded() || !is_as_before(own) || ADAPTYST_DETAIL_UNLIKELY((token & weighed_token) != 0)) return 0;
  recorder& r = *own;
  const writing now(r);
  const uint64_t depth = load(r.depth);
  frame& reused = r.frames[depth];
  // The root frame and skipped phases have other tokens.
  if (reused.token != token || depth == 0) return 0;
  frame& below = *(&reused - 1);
  row* const ended = reused.where;
  if (ended->extras != is_made) return 0;
  row& begun = *load(ended->next);
  const adaptyst_site* const record = begun.site;
  if (!how.matches(r, begun, record, below) || load(*record->step) != ADAPTYST_STEP_ENGINE || is_closed(r) ||
      !how.is_new(below))
    return 0;
  // After the checks: Intel's processors finish earlier loads before they read the counter, and start few behind it.
  const uint64_t at = ticks();
  const uint64_t duration_ns = in_ns(load(r.owner->control.clock.ns_per_tick), at - reused.begin);
  if (!has_bucket_for(*ended, duration_ns)) return 0;

  below.nested_ns += duration_ns;
  bump(r.ended, 1);
  bump(ended->count, 1);
  add_usual_duration(*ended, duration_ns, reused.nested_ns);
  store(ended->open_since, 0);
  store(begun.open_since, at);

  // As open_frame(), for a frame that is open already: without a timestamp the kernel ignores it.
  const uint64_t serial = r.serial + 1;
  const uint64_t next = (serial << 12) | (depth - 1);
  store(reused.begin, 0);
  // A store with release order is not enough: the compiler may move later stores before it. Only an interrupt of this
  // thread reads the frame; for other threads, `writing` has the fences.
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  store(r.serial, serial);
  reused.token = next;
  reused.where = &begun;
  reused.path = begun.path;
  reused.nested_ns = 0;
  reused.stack = how.stack;
  reused.code = how.code;
  store(r.guess, begun.child);
  store_release(reused.begin, at);
  return next;
}

// Ends the scope of `token`.
template <class = void>
inline boundary end_phase(uint64_t token) noexcept {
  if (token == closed_token) {
    end_left_out();
    return {};
  }
  recorder* const own = this_thread_recorder;
  if (token == 0 || reinterpret_cast<uintptr_t>(own) <= 1) return {};
  if ((token & weighed_token) != 0) {  // the cost of its timing is in neither phase
    end_frame(token);
    return {};
  }
  const uint64_t slope = load(own->owner->control.clock.ns_per_tick);
  const boundary now{slope != 0 ? ticks() : monotonic_ns(), slope};
  if (slope != 0) end_frame_at(*own, token, depth_in(token), slope, now.timestamp);
  else end_frame_carefully(*own, token, depth_in(token), now.timestamp);
  return now;
}

template <bool checks_parent>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t open_next_scope(site& marker, uint64_t token,
                                                                                 const void* stack,
                                                                                 const void* code) noexcept {
  const boundary ended = end_phase(token);
  const uint64_t left_out = leave_out(marker);
  if (left_out == closed_token)
    store(get_skip_state(*recorder_at_hand()).closed_at, reinterpret_cast<uintptr_t>(stack));
  if (left_out != undecided) return left_out;
  const uint64_t next = begin_as_expected(expected_marker<checks_parent>{marker, stack, code}, ended);
  if (ADAPTYST_DETAIL_LIKELY(next != 0)) return next;
  return open_scope(marker, {marker.name, marker.name_bytes}, 0, nullptr, stack, code, ended);
}

// For a marker with a literal name, at the place of the caller. `checks_parent`: see link_row().
template <bool checks_parent>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t next_literal_scope(site& marker, uint64_t token,
                                                                                    const void* stack,
                                                                                    const void* code) noexcept {
  const uint64_t next = replace_frame(expected_marker<checks_parent>{marker, stack, code}, token);
  if (ADAPTYST_DETAIL_LIKELY(next != 0)) return next;
  return open_next_scope<checks_parent>(marker, token, stack, code);
}

template <class>
ADAPTYST_DETAIL_COLD uint64_t next_named(site& marker, uint64_t token) noexcept {
  return next_literal_scope<false>(marker, token, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

template <class>
ADAPTYST_DETAIL_COLD uint64_t next_with(site& marker, uint64_t token, text name,
                                        const payload_values* payload) noexcept {
  const boundary ended = end_phase(token);
  return open_scope(marker, name, 0, payload, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0), ended);
}

}}}  // namespace adaptyst::v1::detail

#endif
