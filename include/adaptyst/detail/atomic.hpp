// Atomic access to memory with one writer and any number of readers. Compiler builtins, because <atomic> would be four
// fifths of the compile time of a light header.
#ifndef ADAPTYST_DETAIL_ATOMIC_HPP
#define ADAPTYST_DETAIL_ATOMIC_HPP

#include "config.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class T>
ADAPTYST_DETAIL_INLINE T load(const T& from) noexcept {
  return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

template <class T>
ADAPTYST_DETAIL_INLINE T load_acquire(const T& from) noexcept {
  return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

template <class T, class V>
ADAPTYST_DETAIL_INLINE void store(T& target, V value) noexcept {
  __atomic_store_n(&target, static_cast<T>(value), __ATOMIC_RELAXED);
}

template <class T, class V>
ADAPTYST_DETAIL_INLINE void store_release(T& target, V value) noexcept {
  __atomic_store_n(&target, static_cast<T>(value), __ATOMIC_RELEASE);
}

ADAPTYST_DETAIL_INLINE void store_number(double& target, double value) noexcept {
  __atomic_store(&target, &value, __ATOMIC_RELAXED);
}

// Adds where only this thread writes, without a lock prefix. GCC does not combine atomics into one instruction; the
// assembly does.
template <class T, class V>
ADAPTYST_DETAIL_INLINE void bump(T& counter, V by) noexcept {
#if defined(__x86_64__) && !defined(__clang__) && !defined(ADAPTYST_DETAIL_THREAD_SANITIZER) && \
    !defined(__SANITIZE_ADDRESS__)
  __asm__("add%z0 %1, %0" : "+m"(counter) : "er"(static_cast<T>(by)) : "cc");
#else
  store(counter, static_cast<T>(load(counter) + static_cast<T>(by)));
#endif
}

// The same, ordered after all earlier stores.
template <class T, class V>
ADAPTYST_DETAIL_INLINE void bump_release(T& counter, V by) noexcept {
#ifdef ADAPTYST_DETAIL_THREAD_SANITIZER
  store_release(counter, static_cast<T>(load(counter) + static_cast<T>(by)));
#else
  __atomic_thread_fence(__ATOMIC_RELEASE);
  bump(counter, by);
#endif
}

// Adds where many threads write.
template <class T, class V>
ADAPTYST_DETAIL_INLINE T fetch_add(T& counter, V by) noexcept {
  return __atomic_fetch_add(&counter, static_cast<T>(by), __ATOMIC_RELAXED);
}

template <class T>
ADAPTYST_DETAIL_INLINE bool compare_exchange(T& target, T& expected, T desired) noexcept {
  return __atomic_compare_exchange_n(&target, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// Orders earlier stores before later stores. ThreadSanitizer does not support fences; all ordered accesses are atomic.
ADAPTYST_DETAIL_INLINE void fence_release() noexcept {
#ifndef ADAPTYST_DETAIL_THREAD_SANITIZER
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}
ADAPTYST_DETAIL_INLINE void fence_acquire() noexcept {
#ifndef ADAPTYST_DETAIL_THREAD_SANITIZER
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

}}}  // namespace adaptyst::v1::detail

#endif
