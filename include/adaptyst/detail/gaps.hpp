// What a marker's own code knows of its thread: how many events are to be left out before the next one is recorded. The
// rest of a recorder is for functions that it calls.
#ifndef ADAPTYST_DETAIL_GAPS_HPP
#define ADAPTYST_DETAIL_GAPS_HPP

#include <stddef.h>

#include "atomic.hpp"
#include "site_step.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct recorder;

struct gaps {
  uint32_t gap[steps_with_room];  // how many events until the next one is recorded, that one included; 0: not drawn yet
  gaps* nested;                   // in force while an event on a step of subtrees is left out; null: these are
};

// Of one thread.
struct alignas(64) thinning {
  gaps open;
  gaps closed;      // inside an event that is left out, or that is timed without what is nested in it
  uint64_t random;  // never 0, but in a forked child
};

// A part of the recorder.
struct gap_state {
  gaps* left_out;       // those in force: `open` or `closed` of `thinned`
  thinning* thinned;    // its own
  uintptr_t closed_at;  // where the region stands that has closed the gaps: what is nested in it stands below
  const adaptyst_site* closed_by;
  uint32_t unseen_rounds;  // how many times max_left_out_unseen events were left out in that region
  uint32_t never_closes;   // a region that had closed them was left by a jump: from then on every subtree is recorded
  uintptr_t stands_at;     // the owner's thread_pointer(), dead or alive
};
constexpr size_t gap_state_offset = 6184;  // in the recorder

ADAPTYST_DETAIL_INLINE gap_state& get_gap_state(recorder& recorder) noexcept {
  return *reinterpret_cast<gap_state*>(reinterpret_cast<char*>(&recorder) + gap_state_offset);
}

ADAPTYST_DETAIL_INLINE void open_gaps(gap_state& state) noexcept { store(state.left_out, &state.thinned->open); }
ADAPTYST_DETAIL_INLINE void close_gaps(gap_state& state, gaps* closed, const adaptyst_site* by, uintptr_t at) noexcept {
  store(state.closed_at, at);
  store(state.closed_by, by);
  store(state.unseen_rounds, 0);
  store(state.left_out, closed);
}

// The token of a scope whose event is left out, with what is nested in it.
constexpr uint64_t closed_token = uint64_t{1} << 63;

// Hidden, one for each ELF object and thread: one pointer of TLS, whatever the program marks.
ADAPTYST_DETAIL_HIDDEN inline thread_local recorder* this_thread_recorder = nullptr;

// The address of a thread's own memory; a later thread may get the address of one that has ended.
ADAPTYST_DETAIL_INLINE uintptr_t thread_pointer() noexcept {
#ifdef __x86_64__
  uintptr_t self;
  __asm__("mov %%fs:0, %0" : "=r"(self));
  return self;
#else
  return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#endif
}

// Precise enough: the functions that are called later are below it.
ADAPTYST_DETAIL_INLINE uintptr_t stack_pointer() noexcept {
  uintptr_t here;
#ifdef __x86_64__
  __asm__("mov %%rsp, %0" : "=r"(here));
#else
  __asm__("mov %0, sp" : "=r"(here));
#endif
  return here;
}

// Recorders by the addresses of their threads, for code in which the access to a thread_local variable is a call:
// shared libraries on x86-64. A thread that finds no recorder there, or one of another address, takes the slow path.
constexpr unsigned places_log2 = 8;
ADAPTYST_DETAIL_HIDDEN inline recorder* recorders_by_place[1U << places_log2] = {};

ADAPTYST_DETAIL_INLINE recorder*& recorder_slot(uintptr_t thread) noexcept {
  return recorders_by_place[(thread * 0x9E3779B97F4A7C15U) >> (64 - places_log2)];
}

// A recorder whose gaps this thread may count down, without a call: its own, or, as long as it has none, that of a
// thread that had its address before. If there is none: null, or a number that is no address.
template <class = void>
ADAPTYST_DETAIL_INLINE recorder* recorder_at_hand() noexcept {
#if defined(__x86_64__) && defined(__PIC__) && !defined(__PIE__)
  const uintptr_t thread = thread_pointer();
  recorder* const found = load_acquire(recorder_slot(thread));
  return found != nullptr && load(get_gap_state(*found).stands_at) == thread ? found : nullptr;
#else
  return this_thread_recorder;
#endif
}

}}}  // namespace adaptyst::v1::detail

#endif
