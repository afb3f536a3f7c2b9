// libadaptyst-heap.so: adds allocations and frees of the C heap to regions. docs/memory.md
//
// 1. It defines malloc() and the like. Each calls the next allocator (next_allocator.hpp), which may be jemalloc's.
// 2. A thread counts down the bytes to the next sampled byte. The distance is exponential, with mean `interval`: an
//    allocation of n bytes is sampled with p = 1 - exp(-n / interval), and represents 1 / p allocations.
// 3. An allocation that is not sampled costs a subtraction and a branch; a free costs a read of a filter.
// 4. A sampled block enters a table of fixed size without locks (tracked_blocks.hpp), so that its free is recognised.
// 5. Each sampled allocation or free is an event of the thread's recorder (adapter/heap_event.hpp): a row of kind
//    ADAPTYST_SITE_HEAP below the open region; the report adds its numbers to that region. A free is recorded also
//    below the region of the allocation, which thus knows its live bytes. Both engines read it there,
//    in the program's collector or from outside. The recorder has no heap, and marks its own events lost in signals.
// 6. The library adds up the live bytes. An event that makes them a new maximum carries them: the row with the largest
//    number is the region of the high-water mark.
// 7. Blocks carry the recorder's epoch. A forked child and a later collector begin a new one, and start from 0.
// 8. Nothing here allocates, waits, throws, or changes errno. A call within an event, such as the calloc() of
//    pthread_setspecific(), and a signal handler that interrupts one, is passed on without being counted.
#include <adaptyst/adapter/heap_event.hpp>
#include <stdlib.h>

#include <cmath>

#include "next_allocator.hpp"
#include "tracked_blocks.hpp"

namespace adaptyst::heap { namespace {

constexpr double default_interval = 512 * 1024;
constexpr unsigned sampled_places_log2 = 17, exact_places_log2 = 22;

tracked_blocks blocks;
std::atomic<double> interval{0};  // bytes; 0: each allocation is counted
std::atomic<std::uint64_t> epoch{0};
std::atomic<std::int64_t> live{0}, high_water{0};

// Each thread has its own. `left`: bytes to the next sampled byte.
ADAPTYST_HEAP_THREAD_LOCAL std::int64_t left;
ADAPTYST_HEAP_THREAD_LOCAL std::uint64_t random_state;
ADAPTYST_HEAP_THREAD_LOCAL bool is_busy;

class event_scope {
 public:
  event_scope() noexcept : number_(errno) { is_busy = true; }
  ~event_scope() {
    is_busy = false;
    errno = number_;
  }
  event_scope(const event_scope&) = delete;
  event_scope& operator=(const event_scope&) = delete;

 private:
  int number_;
};

std::int64_t draw_distance(double mean) noexcept {
  if (mean == 0) return 0;
  if (random_state == 0)
    random_state = detail::mix(reinterpret_cast<std::uintptr_t>(&random_state) ^ detail::monotonic_ns()) | 1;
  random_state += 0x9E3779B97F4A7C15U;
  const double in_unit = (static_cast<double>(detail::mix(random_state) >> 11) + 0.5) * 0x1p-53;
  return static_cast<std::int64_t>(-std::log(in_unit) * mean);
}

// A block counts as one byte more than requested: blocks of 0 bytes are sampled too.
double find_probability(std::uint64_t bytes, double mean) noexcept {
  return mean == 0 ? 1 : -std::expm1(-(static_cast<double>(bytes) + 1) / mean);
}

void enter(std::uint64_t now) noexcept {
  std::uint64_t before = epoch.load(std::memory_order_relaxed);
  if (before == now || !epoch.compare_exchange_strong(before, now)) return;
  live = 0;
  high_water = 0;
}

// The live bytes if they are a new maximum; else 0.
double add_live(double bytes) noexcept {
  const std::int64_t now = live.fetch_add(std::llround(bytes)) + std::llround(bytes);
  std::int64_t before = high_water.load(std::memory_order_relaxed);
  while (now > before)
    if (high_water.compare_exchange_weak(before, now)) return static_cast<double>(now);
  return 0;
}

void count_allocation(const void* block, std::uint64_t bytes, double mean) noexcept {
  heap_place place;
  const std::uint64_t now = find_recording_epoch(place);
  if (now == 0) return;
  enter(now);
  const double p = find_probability(bytes, mean);
  heap_allocation made;
  made.allocations = 1 / p;
  made.allocated_bytes = static_cast<double>(bytes) / p;
  made.allocations_variance = (1 - p) / (p * p);
  made.bytes_variance = made.allocations_variance * static_cast<double>(bytes) * static_cast<double>(bytes);
  if (blocks.put(block, {bytes + 1, now, place.calls, place.path})) {
    made.high_water_bytes = add_live(made.allocated_bytes);
    made.tracked_byte_calls = made.allocated_bytes * static_cast<double>(place.calls);
  } else {
    made.untracked_bytes = made.allocated_bytes;
    made.untracked_calls = made.allocations;
  }
  record_allocation(made);
}

// A block of an earlier epoch, or of the parent of a forked child, was not allocated in this observation.
void count_free(const tracked_block& freed) noexcept {
  heap_place here;
  if (const std::uint64_t now = find_recording_epoch(here); now == 0 || freed.epoch != now) return;
  const double p = find_probability(freed.bytes - 1, interval.load(std::memory_order_relaxed));
  const double bytes = static_cast<double>(freed.bytes - 1) / p;
  add_live(-bytes);
  record_free(bytes, 1 / p, {static_cast<const adaptyst_path*>(freed.path), freed.calls});
}

// The countdown of this thread is over, or has not begun.
__attribute__((noinline)) void sample(const void* block, std::uint64_t bytes) noexcept {
  if (!blocks.is_made()) return static_cast<void>(left = 0);
  const double mean = interval.load(std::memory_order_relaxed);
  if (is_busy) return static_cast<void>(left = draw_distance(mean));
  const event_scope now;
  const bool is_first = random_state == 0 && mean != 0;
  left = draw_distance(mean);
  if (is_first && (left -= static_cast<std::int64_t>(bytes) + 1) >= 0) return;
  if (is_first) left = draw_distance(mean);
  if (detail::is_enabled()) count_allocation(block, bytes, mean);
}

inline void* note(void* block, std::uint64_t bytes) noexcept {
  if (block != nullptr && (left -= static_cast<std::int64_t>(bytes) + 1) < 0) sample(block, bytes);
  return block;
}

// Called before the block is freed: afterwards, another thread may get its address. False: it is not tracked.
inline bool take(const void* block, tracked_block& content) noexcept {
  return __builtin_expect(blocks.may_have(block), 0) && blocks.take(block, content);
}

__attribute__((noinline)) void note_free(const tracked_block& freed) noexcept {
  if (is_busy) return;
  const event_scope now;
  if (detail::is_enabled()) count_free(freed);
}

// The filter may be wrong: the block need not be tracked.
__attribute__((noinline)) void free_tracked(void* block) noexcept {
  tracked_block content;
  const bool is_tracked = take(block, content);
  if (early.has(block)) return;
  if (const auto function = next_free.find()) function(block);
  if (is_tracked) note_free(content);
}

// Around all calls of the next allocator but malloc() and free(): it may make such a function of others, and call those
// by the names that this library defines.
class passed_on {
 public:
  passed_on() noexcept : before_(is_busy) { is_busy = true; }
  ~passed_on() { is_busy = before_; }
  passed_on(const passed_on&) = delete;
  passed_on& operator=(const passed_on&) = delete;

 private:
  bool before_;
};

template <class Call>
auto pass_on(Call&& call) noexcept {
  const passed_on now;
  return call();
}

template <class Next, class... Arguments>
void* allocate_at_once(Next& next, std::size_t bytes, std::size_t alignment, Arguments... arguments) noexcept {
  return note(pass_on([&] { return allocate_with(next, bytes, alignment, arguments...); }), bytes);
}

void* move_early(const void* block, std::size_t bytes) noexcept {
  void* const made = allocate_with(next_malloc, bytes, 16, bytes);
  const std::size_t before = early_memory::size_of(block);
  if (made != nullptr) std::memcpy(made, block, before < bytes ? before : bytes);
  return made;
}

void* reallocate(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return note(allocate_with(next_malloc, bytes, 16, bytes), bytes);
  if (__builtin_expect(early.has(block), 0)) return move_early(block, bytes);
  tracked_block content;
  const bool is_tracked = take(block, content);
  const auto function = next_realloc.find();
  void* const made = function != nullptr ? pass_on([&] { return function(block, bytes); }) : nullptr;
  if (made == nullptr && bytes != 0) {  // the block remains
    if (is_tracked) blocks.put(block, content);
    return nullptr;
  }
  if (is_tracked) note_free(content);
  return note(made, bytes);
}

void use(double mean) noexcept {
  interval = mean;
  blocks.make(mean == 0 ? exact_places_log2 : sampled_places_log2);
}

// `exact`, or the mean distance of sampled bytes.
double parse_interval(const char* text) noexcept {
  if (std::strcmp(text, "exact") == 0) return 0;
  char* end = nullptr;
  const double bytes = std::strtod(text, &end);
  return end != text && *end == '\0' && bytes >= 1 && bytes <= 0x1p40 ? bytes : default_interval;
}

__attribute__((constructor)) void begin() noexcept {
  const int number = errno;
  next_free.find();
  next_malloc.find();
  next_calloc.find();
  next_realloc.find();
  if (const char* const mode = detail::system::environment("ADAPTYST_HEAP")) use(parse_interval(mode));
  errno = number;
}

}}  // namespace adaptyst::heap

using namespace adaptyst::heap;

#define ADAPTYST_HEAP_CALL extern "C" __attribute__((visibility("default")))

ADAPTYST_HEAP_CALL void* malloc(size_t bytes) noexcept {
  return note(allocate_with(next_malloc, bytes, 16, bytes), bytes);
}

ADAPTYST_HEAP_CALL void free(void* block) noexcept {
  if (__builtin_expect(blocks.may_have(block), 0)) return free_tracked(block);
  if (__builtin_expect(early.has(block), 0)) return;
  if (const auto function = next_free.find()) function(block);
}

ADAPTYST_HEAP_CALL void* calloc(size_t count, size_t bytes) noexcept {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return allocate_at_once(next_calloc, all, 16, count, bytes);  // early memory is zero
}

ADAPTYST_HEAP_CALL void* realloc(void* block, size_t bytes) noexcept { return reallocate(block, bytes); }

ADAPTYST_HEAP_CALL void* reallocarray(void* block, size_t count, size_t bytes) noexcept {
  size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all)) return reallocate(block, all);
  errno = ENOMEM;
  return nullptr;
}

ADAPTYST_HEAP_CALL void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return allocate_at_once(next_aligned_alloc, bytes, alignment, alignment, bytes);
}

ADAPTYST_HEAP_CALL void* memalign(size_t alignment, size_t bytes) noexcept {
  return allocate_at_once(next_memalign, bytes, alignment, alignment, bytes);
}

ADAPTYST_HEAP_CALL int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  const auto function = next_posix_memalign.find();
  if (function == nullptr) return ENOMEM;
  const int failed = pass_on([&] { return function(block, alignment, bytes); });
  if (failed == 0) note(*block, bytes);
  return failed;
}

ADAPTYST_HEAP_CALL void* valloc(size_t bytes) noexcept { return allocate_at_once(next_valloc, bytes, 4096, bytes); }

ADAPTYST_HEAP_CALL void* pvalloc(size_t bytes) noexcept { return allocate_at_once(next_pvalloc, bytes, 4096, bytes); }

// For a collector in the program, which has the option memory=. Without it, and without the variable that `adaptyst run`
// sets, nothing is counted.
ADAPTYST_HEAP_CALL void adaptyst_heap_use(int exact) noexcept { use(exact != 0 ? 0 : default_interval); }
