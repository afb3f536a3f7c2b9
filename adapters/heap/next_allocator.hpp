// The allocator behind this library: the next object that defines the functions, glibc's or one that the user has
// preloaded. While it is being found, memory comes from a small array.
#ifndef ADAPTYST_ADAPTERS_HEAP_NEXT_ALLOCATOR_HPP
#define ADAPTYST_ADAPTERS_HEAP_NEXT_ALLOCATOR_HPP

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define ADAPTYST_HEAP_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

namespace adaptyst::heap {

// For the allocations that dlsym() makes. Nothing is reused; a few hundred bytes are needed.
class early_memory {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment = 16) noexcept {
    if (bytes > sizeof memory_) return nullptr;
    std::size_t from = used_.load(std::memory_order_relaxed), begin = 0;
    do {
      begin = (from + 16 + alignment - 1) & ~(alignment - 1);  // 16 bytes before a block hold its size
      if (begin + bytes > sizeof memory_) return nullptr;
    } while (!used_.compare_exchange_weak(from, begin + bytes));
    std::memcpy(memory_ + begin - 16, &bytes, sizeof bytes);
    return memory_ + begin;
  }
  bool has(const void* block) const noexcept {
    return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(memory_) < sizeof memory_;
  }
  static std::size_t size_of(const void* block) noexcept {
    std::size_t bytes = 0;
    std::memcpy(&bytes, static_cast<const char*>(block) - 16, sizeof bytes);
    return bytes;
  }

 private:
  std::atomic<std::size_t> used_{0};
  alignas(4096) char memory_[std::size_t{64} << 10];
};

inline early_memory early;
ADAPTYST_HEAP_THREAD_LOCAL bool is_searching;

// A function of the next allocator, or the first of the process: that which the program gets by this name. begin() in
// heap.cpp finds all; earlier calls find their own.
template <class Result, class... Arguments>
class next_function {
 public:
  using function = Result (*)(Arguments...);
  explicit constexpr next_function(const char* name, bool is_first = false) noexcept
      : name_(name), is_first_(is_first) {}

  // Null: there is none, or this thread is looking for one.
  function find() noexcept {
    if (function const found = found_.load(std::memory_order_relaxed); __builtin_expect(found != nullptr, 1))
      return found;
    return is_absent_.load(std::memory_order_relaxed) ? nullptr : search();
  }

 private:
  __attribute__((noinline)) function search() noexcept {
    if (is_searching) return nullptr;
    const int number = errno;
    is_searching = true;
    function found = nullptr;
    void* const address = dlsym(is_first_ ? RTLD_DEFAULT : RTLD_NEXT, name_);
    std::memcpy(&found, &address, sizeof found);
    is_searching = false;
    errno = number;
    found_.store(found, std::memory_order_relaxed);
    is_absent_.store(found == nullptr, std::memory_order_relaxed);
    return found;
  }

  const char* name_;
  bool is_first_;
  std::atomic<function> found_{nullptr};
  std::atomic<bool> is_absent_{false};
};

inline next_function<void*, std::size_t> next_malloc("malloc");
inline next_function<void*, std::size_t, std::size_t> next_calloc("calloc");
inline next_function<void*, void*, std::size_t> next_realloc("realloc");
inline next_function<void, void*> next_free("free");
inline next_function<void*, std::size_t, std::size_t> next_aligned_alloc("aligned_alloc");
inline next_function<void*, std::size_t, std::size_t> next_memalign("memalign");
inline next_function<int, void**, std::size_t, std::size_t> next_posix_memalign("posix_memalign");
inline next_function<void*, std::size_t> next_valloc("valloc");
inline next_function<void*, std::size_t> next_pvalloc("pvalloc");
inline next_function<void*, std::size_t> first_malloc("malloc", true);
inline next_function<void*, void*, std::size_t> first_realloc("realloc", true);
inline next_function<void, void*> first_free("free", true);

// For malloc() and calloc(): while the next allocator is searched for, early memory, which is zero.
template <class Next, class... Arguments>
void* allocate_with(Next& next, std::size_t bytes, Arguments... arguments) noexcept {
  if (const auto function = next.find()) return function(arguments...);
  void* const made = is_searching ? early.allocate(bytes) : nullptr;
  if (made == nullptr) errno = ENOMEM;
  return made;
}

// For the functions that an allocator may lack.
inline void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
  if (const auto function = next_memalign.find()) return function(alignment, bytes);
  void* made = nullptr;
  if (const auto function = next_posix_memalign.find(); function != nullptr && function(&made, alignment, bytes) == 0)
    return made;
  errno = ENOMEM;
  return nullptr;
}

}  // namespace adaptyst::heap

#endif
