// Detects whether a thread lost its core during an event, without a system call.
//
// Without it, a 50 ns event that represents a thousand, interrupted for 4 ms, would count as 4 s. When the kernel
// interrupts a thread outside the restartable sequence of `rseq_cs`, it clears that pointer (<linux/rseq.h>; glibc 2.35
// and later register the area). The pointer is set to a sequence that no thread executes. Without an area, or if other
// code sets a sequence, the event counts as measured.
//
// If the pointer was cleared, a system call separates involuntary from voluntary switches: a wait is the event's own
// time. A thread that has waited since the last such call is assumed to have waited in the event. The first call only
// gives reference counts.
#ifndef ADAPTYST_DETAIL_CORE_LOSS_HPP
#define ADAPTYST_DETAIL_CORE_LOSS_HPP

#include "atomic.hpp"
#include "system.hpp"

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming): from
// <sys/rseq.h>
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
}

namespace adaptyst { inline namespace v1 { namespace detail {

// Per thread. Never unmapped, because the kernel may follow the pointer at any time.
struct core_watch {
  // The kernel's struct rseq_cs.
  alignas(32) uint32_t version;
  uint32_t flags;
  uint64_t start, length, abort;
  uint32_t signature[2];  // precedes the kernel's abort address
  uint64_t* sequence;     // the thread's pointer; null: none
  long waited, had_to;    // voluntary and involuntary switches; -1: not read yet
};

constexpr uint32_t sequence_signature =
#ifdef __x86_64__
    0x53053053;
#else
    0xd428bc00;
#endif

// Voluntary and involuntary switches of the calling thread.
template <class = void>
inline bool count_switches(long& waited, long& had_to) noexcept {
  constexpr long this_thread = 1;  // RUSAGE_THREAD
  constexpr unsigned voluntary = 16;
  long words[18] = {};  // struct rusage: two times of two words each, and counts
  if (system::call(__NR_getrusage, this_thread, words) != 0) return false;
  waited = words[voluntary];
  had_to = words[voluntary + 1];
  return true;
}

// Call it on the watched thread; `thread`: its thread pointer.
template <class = void>
inline void prepare_watch(core_watch& watch, uintptr_t thread) noexcept {
  watch.sequence = nullptr;
  if (&__rseq_size == nullptr || &__rseq_offset == nullptr || __rseq_size == 0) return;
  // struct rseq: two processor numbers (the second is negative if unregistered), then the pointer.
  auto* const area = reinterpret_cast<char*>(thread) + __rseq_offset;
  int32_t processor;
  __builtin_memcpy(&processor, area + sizeof(uint32_t), sizeof processor);
  if (processor < 0) return;
  watch.waited = watch.had_to = -1;
  watch.version = watch.flags = 0;
  watch.signature[0] = sequence_signature;
  watch.start = reinterpret_cast<uintptr_t>(&watch.signature[0]);
  watch.length = 1;
  watch.abort = reinterpret_cast<uintptr_t>(&watch.signature[1]);
  watch.sequence = reinterpret_cast<uint64_t*>(area + sizeof(uint64_t));
}

ADAPTYST_DETAIL_INLINE void watch_core(core_watch& watch) noexcept {
  if (watch.sequence != nullptr) store(*watch.sequence, reinterpret_cast<uintptr_t>(&watch));
}

// Ends watch_core(): true if the thread was forced off its core since then.
template <class = void>
ADAPTYST_DETAIL_INLINE bool has_lost_core(core_watch& watch) noexcept {
  if (watch.sequence == nullptr) return false;
  const uint64_t now = load(*watch.sequence);
  if (ADAPTYST_DETAIL_LIKELY(now == reinterpret_cast<uintptr_t>(&watch))) store(*watch.sequence, uint64_t{0});
  if (ADAPTYST_DETAIL_LIKELY(now != 0)) return false;
  const system::errno_kept unchanged;
  const long waited = watch.waited;
  const long had_to = watch.had_to;
  return count_switches(watch.waited, watch.had_to) && had_to >= 0 && watch.waited == waited && watch.had_to != had_to;
}

}}}  // namespace adaptyst::v1::detail

#endif
