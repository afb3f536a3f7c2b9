// Skip counts: the number of events to skip before the next recorded event. A marker's inline code reads only this data
// of its thread; called functions use the rest of the recorder.
#ifndef ADAPTYST_DETAIL_SKIP_COUNTS_HPP
#define ADAPTYST_DETAIL_SKIP_COUNTS_HPP

#include <stddef.h>

#include "atomic.hpp"
#include "site_step.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct recorder;

struct skip_counts {
  uint32_t skip_count[step_count];  // events until the next recorded one, inclusive; 0: not drawn yet
  skip_counts* nested;              // used inside a skipped subtree; null: this one is used
};

// Per thread.
struct alignas(64) event_sampler {
  skip_counts open;
  skip_counts closed;  // inside a skipped event, or one recorded without its nested events
  uint64_t random;     // never 0, except in a forked child
};

// A part of the recorder.
struct skip_state {
  skip_counts* left_out;   // in use: `open` or `closed` of `sampled`
  event_sampler* sampler;  // its own
  uintptr_t closed_at;     // stack pointer of the region that closed the counts: nested code is below it
  const adaptyst_site* closed_by;
  uint32_t unseen_rounds;   // rounds of max_left_out_unseen skipped events in that region
  uint32_t never_closes;    // a jump left a closing region: from then on every subtree is recorded
  uintptr_t owner_pointer;  // the owner's thread_pointer(), alive or not
};
constexpr size_t skip_state_offset = 6184;  // in the recorder

ADAPTYST_DETAIL_INLINE skip_state& get_skip_state(recorder& recorder) noexcept {
  return *reinterpret_cast<skip_state*>(reinterpret_cast<char*>(&recorder) + skip_state_offset);
}

ADAPTYST_DETAIL_INLINE void open_skip_counts(skip_state& state) noexcept {
  store(state.left_out, &state.sampler->open);
}
ADAPTYST_DETAIL_INLINE void close_skip_counts(skip_state& state, skip_counts* closed, const adaptyst_site* by,
                                              uintptr_t at) noexcept {
  store(state.closed_at, at);
  store(state.closed_by, by);
  store(state.unseen_rounds, 0);
  store(state.left_out, closed);
}

// Token of a scope that is skipped with its nested events.
constexpr uint64_t closed_token = uint64_t{1} << 63;

// Hidden, per ELF object and thread: one TLS pointer, however many markers.
ADAPTYST_DETAIL_HIDDEN inline thread_local recorder* this_thread_recorder = nullptr;

// Address of a thread's own memory; a later thread may reuse it.
ADAPTYST_DETAIL_INLINE uintptr_t thread_pointer() noexcept {
#ifdef __x86_64__
  uintptr_t self;
  __asm__("mov %%fs:0, %0" : "=r"(self));
  return self;
#else
  return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#endif
}

// Precise enough: functions called later are below it.
ADAPTYST_DETAIL_INLINE uintptr_t stack_pointer() noexcept {
  uintptr_t here;
#ifdef __x86_64__
  __asm__("mov %%rsp, %0" : "=r"(here));
#else
  __asm__("mov %0, sp" : "=r"(here));
#endif
  return here;
}

// Recorders by the addresses of their threads, where thread_local access is a call: shared libraries on x86-64. A
// thread that finds none, or one of another address, takes the slow path.
constexpr unsigned places_log2 = 8;
ADAPTYST_DETAIL_HIDDEN inline recorder* recorders_by_place[1U << places_log2] = {};

ADAPTYST_DETAIL_INLINE recorder*& recorder_slot(uintptr_t thread) noexcept {
  return recorders_by_place[(thread * 0x9E3779B97F4A7C15U) >> (64 - places_log2)];
}

// The recorder with the skip counts that this thread may decrement without a call: its own, or, until it has one, that
// of an earlier thread at the same address. Otherwise null, or a number that is no address.
template <class = void>
ADAPTYST_DETAIL_INLINE recorder* recorder_at_hand() noexcept {
#if defined(__x86_64__) && defined(__PIC__) && !defined(__PIE__)
  const uintptr_t thread = thread_pointer();
  recorder* const found = load_acquire(recorder_slot(thread));
  return found != nullptr && load(get_skip_state(*found).owner_pointer) == thread ? found : nullptr;
#else
  return this_thread_recorder;
#endif
}

}}}  // namespace adaptyst::v1::detail

#endif
