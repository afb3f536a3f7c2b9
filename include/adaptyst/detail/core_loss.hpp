// Whether a thread has lost its core to another one while an event lasted, told without a system call.
//
// An event of 50 ns that stands for a thousand, and in which another program had the core for 4 ms, would be taken for
// 4 s. The kernel knows: whenever it has interrupted a thread outside the restartable sequence that the thread's
// `rseq_cs` points to, it clears that pointer (<linux/rseq.h>; the area is registered by glibc 2.35 and later). So it
// is made to point to a sequence in which no thread ever is. Where there is no such area, or other code sets a sequence
// of its own meanwhile, nothing is known, and the event counts as it was measured.
//
// Only a system call tells a thread that had to leave its core from one that waited, whose wait is the event's own
// time. It is made only if the pointer was cleared. A thread that has also waited since the last such call is taken to
// have waited in the event. The first call only gives the counts that later ones are compared with.
#ifndef ADAPTYST_DETAIL_CORE_LOSS_HPP
#define ADAPTYST_DETAIL_CORE_LOSS_HPP

#include "atomic.hpp"
#include "system.hpp"

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming): the C library's,
// <sys/rseq.h>
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
}

namespace adaptyst { inline namespace v1 { namespace detail {

// Of one thread. Never unmapped, since the kernel may follow the pointer at any time.
struct core_watch {
  // The kernel's struct rseq_cs.
  alignas(32) uint32_t version;
  uint32_t flags;
  uint64_t start, length, abort;
  uint32_t signature[2];  // stands before the place to which the kernel would go
  uint64_t* sequence;     // the thread's pointer; null: there is none
  long waited, had_to;    // how often it has given its core away, and how often it had to; -1: not asked yet
};

constexpr uint32_t sequence_signature =
#ifdef __x86_64__
    0x53053053;
#else
    0xd428bc00;
#endif

// How often the calling thread has given its core away, and how often it had to.
template <class = void>
inline bool count_switches(long& waited, long& had_to) noexcept {
  constexpr long this_thread = 1;  // RUSAGE_THREAD
  constexpr unsigned voluntary = 16;
  long words[18] = {};  // of struct rusage: two times of two words each, and counts
  if (system::call(__NR_getrusage, this_thread, words) != 0) return false;
  waited = words[voluntary];
  had_to = words[voluntary + 1];
  return true;
}

// To be called on the thread that is to be watched; `thread`: its thread pointer.
template <class = void>
inline void prepare_watch(core_watch& watch, uintptr_t thread) noexcept {
  watch.sequence = nullptr;
  if (&__rseq_size == nullptr || &__rseq_offset == nullptr || __rseq_size == 0) return;
  // struct rseq: the processor twice, the second less than 0 where it was not registered; the pointer.
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

// Ends what watch_core() has begun: whether the thread had to leave its core since.
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
