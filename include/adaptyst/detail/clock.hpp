// Timestamps: the processor's counter if the collector has calibrated it, else CLOCK_MONOTONIC. On the development
// machine, the counter takes 9 ns, clock_gettime() 21 ns. There is no fence: it would cost more than the few ns by
// which neighbouring instructions may drift.
#ifndef ADAPTYST_DETAIL_CLOCK_HPP
#define ADAPTYST_DETAIL_CLOCK_HPP

#include "atomic.hpp"
#include "system.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Linear conversion of counter ticks to CLOCK_MONOTONIC. A collector sets it before it enables markers.
struct clock_line {
  uint64_t ns_per_tick;  // times 2^32; 0: not calibrated, timestamps are CLOCK_MONOTONIC
  uint64_t base_ticks;
  uint64_t base_ns;
};

// A reader that has read the new slope also reads the other new members.
template <class = void>
inline void set_clock(clock_line& published, const clock_line& line) noexcept {
  store(published.base_ticks, line.base_ticks);
  store(published.base_ns, line.base_ns);
  store_release(published.ns_per_tick, line.ns_per_tick);
}

__extension__ typedef unsigned __int128 wide;

ADAPTYST_DETAIL_INLINE uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

// Completes all earlier instructions before later ones. For recorded events of a sampled marker, branches and cache
// lines are cold: instructions executed ahead would lengthen the event.
ADAPTYST_DETAIL_INLINE void fence_instructions() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#else
  __asm__ volatile("isb" ::: "memory");
#endif
}

// A clock of the host, by its number in <time.h>.
ADAPTYST_DETAIL_INLINE uint64_t read_clock(int clock) noexcept {
  system::time now{};
  system::get_time(clock, &now);
  return static_cast<uint64_t>(now.seconds) * 1000000000U + static_cast<uint64_t>(now.nanoseconds);
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t monotonic_ns() noexcept {
  return read_clock(system::clock_monotonic);
}

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t timestamp(const clock_line& line) noexcept {
  if (ADAPTYST_DETAIL_UNLIKELY(load(line.ns_per_tick) == 0)) return monotonic_ns();
  return ticks();
}

ADAPTYST_DETAIL_INLINE uint64_t in_ns(uint64_t ns_per_tick, uint64_t ticks) noexcept {
  auto ns = static_cast<uint64_t>((static_cast<wide>(ticks) * ns_per_tick) >> 32);
  // Otherwise GCC spills both halves of the product, and loads the result again: the next timestamp waits for that.
  __asm__("" : "+r"(ns));
  return ns;
}

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t to_duration_ns(const clock_line& line, uint64_t timestamps) noexcept {
  const uint64_t slope = load(line.ns_per_tick);
  return ADAPTYST_DETAIL_UNLIKELY(slope == 0) ? timestamps : in_ns(slope, timestamps);
}

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t to_monotonic_ns(const clock_line& line, uint64_t timestamp) noexcept {
  if (ADAPTYST_DETAIL_UNLIKELY(load(line.ns_per_tick) == 0)) return timestamp;
  return load(line.base_ns) + to_duration_ns(line, timestamp - load(line.base_ticks));
}

}}}  // namespace adaptyst::v1::detail

#endif
