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
// 8. Nothing here allocates, throws, or changes errno. The dynamic loader is called, and waits, at the start, and when
//    a thread gets its recorder.
// 9. A call within an event, such as the calloc() of pthread_setspecific(), and a signal handler that interrupts one,
//    is passed on. It is counted as nested. The live bytes include its frees.
// 10. A program may have two copies: linked, and preloaded by `adaptyst run`. The last in the order of symbols counts;
//    the others pass all calls on.
#include <adaptyst/adapter/heap_event.hpp>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "next_allocator.hpp"
#include "tracked_blocks.hpp"

namespace adaptyst::heap { namespace {

constexpr double default_interval = 512 * 1024;
constexpr unsigned sampled_places_log2 = 17, exact_places_log2 = 22;

tracked_blocks blocks;
std::atomic<bool> is_counting{false};
std::atomic<double> interval{0};  // bytes; 0: each allocation is counted
std::atomic<std::uint64_t> epoch{0}, begun_epoch{0};
std::atomic<std::int64_t> live{0}, high_water{0};
std::atomic<double> live_variance{0};
std::atomic<std::uint64_t> nested_calls{0}, unseen_frees{0};  // not yet recorded

// The state of the thread. passing_on: the calls are not the program's.
enum class activity { none, counting, passing_on };

// Each thread has its own. `left`: bytes to the next sampled byte.
ADAPTYST_HEAP_THREAD_LOCAL std::int64_t left;
ADAPTYST_HEAP_THREAD_LOCAL std::uint64_t random_state;
ADAPTYST_HEAP_THREAD_LOCAL activity busy_with;
ADAPTYST_HEAP_THREAD_LOCAL bool has_arrived;  // an allocation before counting began

class event_scope {
 public:
  event_scope() noexcept : number_(errno) { busy_with = activity::counting; }
  ~event_scope() {
    busy_with = activity::none;
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

heap_weights weigh(std::uint64_t bytes, double mean) noexcept {
  const double p = find_probability(bytes, mean), exact = static_cast<double>(bytes);
  heap_weights made;
  made.bytes = exact / p;
  made.calls = 1 / p;
  made.calls_variance = (1 - p) / (p * p);
  made.bytes_variance = made.calls_variance * exact * exact;
  made.interval_bytes = mean;
  return made;
}

// The first thread of a new epoch resets the sums, and then publishes the epoch. Threads do not wait for it.
void begin_epoch(std::uint64_t now) noexcept {
  if (epoch.load(std::memory_order_acquire) >= now) return;
  std::uint64_t before = begun_epoch.load(std::memory_order_relaxed);
  if (before >= now || !begun_epoch.compare_exchange_strong(before, now)) return;
  live = 0;
  high_water = 0;
  live_variance = 0;
  nested_calls = unseen_frees = 0;
  epoch.store(now, std::memory_order_release);
}

double add_variance(double more) noexcept {
  double before = live_variance.load(std::memory_order_relaxed);
  while (!live_variance.compare_exchange_weak(before, before + more)) {}
  return before + more > 0 ? before + more : 0;
}

// The live bytes if they are a new maximum; else 0.
heap_mark add_live(const heap_weights& more) noexcept {
  const double variance = add_variance(more.bytes_variance);
  const std::int64_t now = live.fetch_add(std::llround(more.bytes)) + std::llround(more.bytes);
  std::int64_t before = high_water.load(std::memory_order_relaxed);
  while (now > before)
    if (high_water.compare_exchange_weak(before, now)) return {static_cast<double>(now), variance};
  return {};
}

void remove_live(const heap_weights& freed) noexcept {
  add_variance(-freed.bytes_variance);
  live.fetch_sub(std::llround(freed.bytes));
}

// After remove_live(): no new maximum.
void restore_live(const heap_weights& kept) noexcept {
  add_variance(kept.bytes_variance);
  live.fetch_add(std::llround(kept.bytes));
}

heap_weights weigh(const tracked_block& block) noexcept {
  return weigh(block.bytes - 1, interval.load(std::memory_order_relaxed));
}

heap_place place_of(const tracked_block& block) noexcept {
  return {static_cast<const adaptyst_path*>(block.path), block.calls};
}

// A block of an earlier epoch, or of the parent of a forked child, was not allocated in this observation.
bool is_live(const tracked_block& block) noexcept { return block.epoch == epoch.load(std::memory_order_acquire); }

void record_earlier_losses() noexcept {
  if (nested_calls.load(std::memory_order_relaxed) == 0 && unseen_frees.load(std::memory_order_relaxed) == 0) return;
  record_lost_calls(nested_calls.exchange(0), unseen_frees.exchange(0));
}

void count_allocation(const void* block, std::uint64_t bytes, double mean) noexcept {
  heap_place place;
  const std::uint64_t now = find_recording_epoch(place);
  if (now == 0) {
    if (place.is_obtaining_recorder) ++nested_calls;
    return;
  }
  begin_epoch(now);
  record_earlier_losses();
  const heap_weights made = weigh(bytes, mean);
  tracked_block before;
  const auto result = blocks.put(block, {bytes + 1, now, place.calls, place.path}, before);
  if (result == tracked_blocks::result::is_full) return record_untracked(made);
  if (result == tracked_blocks::result::replaced && before.epoch == now) {
    remove_live(weigh(before));
    record_release(weigh(before), place_of(before));
    record_lost_calls(0, 1);
  }
  record_allocation(made, add_live(made), place.calls);
}

// The countdown of this thread is over, or has not begun.
__attribute__((noinline)) void sample(const void* block, std::uint64_t bytes) noexcept {
  if (!is_counting.load(std::memory_order_acquire)) {
    has_arrived = true;
    return static_cast<void>(left = 0);
  }
  const double mean = interval.load(std::memory_order_relaxed);
  if (busy_with != activity::none) {
    left = draw_distance(mean);
    if (busy_with == activity::counting && detail::is_enabled()) ++nested_calls;
    return;
  }
  const event_scope now;
  const bool is_first = random_state == 0 && mean != 0;
  left = draw_distance(mean);
  if (is_first && (left -= static_cast<std::int64_t>(bytes) + 1) >= 0) return;
  if (is_first) left = draw_distance(mean);
  if (detail::is_enabled()) count_allocation(block, bytes, mean);
}

inline void* count_down(void* block, std::uint64_t bytes) noexcept {
  if (block != nullptr && (left -= static_cast<std::int64_t>(bytes) + 1) < 0) sample(block, bytes);
  return block;
}

// Called before the block is freed: afterwards, another thread may get its address. False: it is not tracked.
inline bool take(const void* block, tracked_block& content) noexcept {
  return __builtin_expect(blocks.may_have(block), 0) && blocks.take(block, content);
}

void record_freed(const tracked_block& freed) noexcept {
  if (busy_with != activity::none) return static_cast<void>(++unseen_frees);
  const event_scope now;
  heap_place here;
  if (!detail::is_enabled()) return;
  if (find_recording_epoch(here) != freed.epoch) {
    if (here.is_obtaining_recorder) ++unseen_frees;
    return;
  }
  record_earlier_losses();
  const heap_weights weights = weigh(freed);
  record_free(weights);
  record_release(weights, place_of(freed));
}

// The filter may be wrong: the block need not be tracked. The live bytes are reduced first: afterwards, another thread
// may allocate the same memory.
__attribute__((noinline)) void free_tracked(void* block) noexcept {
  tracked_block content;
  if (take(block, content) && is_live(content)) {
    remove_live(weigh(content));
    record_freed(content);
  }
  if (early.has(block)) return;
  if (const auto function = next_free.find()) function(block);
}

// Around all calls of the next allocator but malloc() and free(): it may make such a function of others, and call those
// by the names that this library defines.
class passed_on {
 public:
  passed_on() noexcept : before_(busy_with) {
    if (before_ == activity::none) busy_with = activity::passing_on;
  }
  ~passed_on() { busy_with = before_; }
  passed_on(const passed_on&) = delete;
  passed_on& operator=(const passed_on&) = delete;

 private:
  activity before_;
};

template <class Call>
auto pass_on(Call&& call) noexcept {
  const passed_on now;
  return call();
}

// By `next`, or by another function for aligned memory if there is none.
template <class Next, class... Arguments>
void* allocate_aligned_with(Next& next, std::size_t alignment, std::size_t bytes, Arguments... arguments) noexcept {
  const auto function = next.find();
  return count_down(
      pass_on([&] { return function != nullptr ? function(arguments...) : allocate_aligned(alignment, bytes); }),
      bytes);
}

void* move_early(const void* block, std::size_t bytes) noexcept {
  void* const made = allocate_with(next_malloc, bytes, bytes);
  const std::size_t before = early_memory::size_of(block);
  if (made != nullptr) std::memcpy(made, block, before < bytes ? before : bytes);
  return made;
}

// The block remains, and so does its entry.
void put_back(const void* block, const tracked_block& content) noexcept {
  tracked_block unused;
  if (blocks.put(block, content, unused) == tracked_blocks::result::is_full) ++unseen_frees;
  else if (is_live(content)) restore_live(weigh(content));
}

void* reallocate(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return count_down(allocate_with(next_malloc, bytes, bytes), bytes);
  if (__builtin_expect(early.has(block), 0)) return move_early(block, bytes);
  const auto function = next_realloc.find();
  if (function == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  tracked_block content;
  const bool is_tracked = take(block, content), was_live = is_tracked && is_live(content);
  if (was_live) remove_live(weigh(content));
  void* const made = pass_on([&] { return function(block, bytes); });
  if (made == nullptr && bytes != 0) {
    if (is_tracked) put_back(block, content);
    return nullptr;
  }
  if (was_live) record_freed(content);
  return count_down(made, bytes);
}

// Another copy of this library, behind this one.
using use_function = int (*)(int);
using exclude_function = void (*)();
template <class Function>
Function find_next_copy(const char* name) noexcept {
  void* const address = dlsym(RTLD_NEXT, name);
  Function found = nullptr;
  std::memcpy(&found, &address, sizeof found);
  return found;
}
bool has_next_copy() noexcept { return find_next_copy<use_function>("adaptyst_heap_use") != nullptr; }

// The object that defines the function that the program gets by this name; null: unknown, such as an entry of the
// procedure linkage table of the program.
const char* find_definition(const char* name, const void*& base) noexcept {
  Dl_info found{};
  void* symbol = nullptr;
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr || dladdr1(address, &found, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr ||
      static_cast<const ElfW(Sym)*>(symbol)->st_shndx == SHN_UNDEF)
    return nullptr;
  base = found.dli_fbase;
  return found.dli_fname;
}

// Whether this copy gets an allocation of the program. An allocator in front may pass calls on, as a function that
// only counts them does. This copy does not count yet: each allocation reaches sample().
bool gets_calls() noexcept {
  const auto allocate = first_malloc.find();
  const auto release = first_free.find();
  if (allocate == nullptr || release == nullptr) return true;
  has_arrived = false;
  left = 0;
  void* const block = allocate(64);
  release(block);
  return has_arrived || block == nullptr;
}

// A closed pipe does not end the program: SIGPIPE is blocked, and taken back unless it was pending before.
void print(const char* text, std::size_t bytes) noexcept {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  if (pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0) return;
  const timespec no_time{};
  if (write(STDERR_FILENO, text, bytes) < 0 && errno == EPIPE && sigismember(&pending, SIGPIPE) == 0)
    sigtimedwait(&pipe, nullptr, &no_time);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Names the allocator that gets the calls. Between two copies of this library its name is unknown.
void print_allocator_in_front() noexcept {
  const void *first = nullptr, *own = nullptr, *program = nullptr;
  const char* file = find_definition("malloc", first);
  const bool is_between = file == nullptr || find_definition("adaptyst_heap_use", own) == nullptr || first == own;
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(getauxval(AT_ENTRY)), &found) != 0) program = found.dli_fbase;
  const char* const hint = is_between         ? "name it in LD_PRELOAD of adaptyst run"
                           : first == program ? "call the next malloc() from it: dlsym(RTLD_NEXT, \"malloc\")"
                                              : "name it in LD_PRELOAD of adaptyst run, or behind the adapter";
  char text[1024];
  const int bytes = std::snprintf(text, sizeof text,
                                  "adaptyst: memory=heap: %s is in front of the heap adapter and gets the calls: "
                                  "allocations are not counted; %s\n",
                                  is_between ? "another allocator" : file, hint);
  if (bytes > 0)
    print(text, static_cast<std::size_t>(bytes) < sizeof text ? static_cast<std::size_t>(bytes) : sizeof text - 1);
}

// 0; EBUSY: it counts in the other mode; ENOTSUP: another allocator gets the calls; ENOMEM: all blocks will be untracked.
int start_counting(double mean) noexcept {
  if (is_counting.load(std::memory_order_acquire)) {
    if (interval.load(std::memory_order_relaxed) != mean) return EBUSY;
    return blocks.is_made() ? 0 : ENOMEM;
  }
  if (!gets_calls()) {
    print_allocator_in_front();
    return ENOTSUP;
  }
  detail::get_process(adaptyst_object_v5);
  interval = mean;
  const bool is_made = blocks.make(mean == 0 ? exact_places_log2 : sampled_places_log2);
  is_counting.store(true, std::memory_order_release);
  return is_made ? 0 : ENOMEM;
}

// `exact`, or the mean distance of sampled bytes.
double parse_interval(const char* text) noexcept {
  if (std::strcmp(text, "exact") == 0) return 0;
  char* end = nullptr;
  const double bytes = std::strtod(text, &end);
  return end != text && *end == '\0' && bytes >= 1 && bytes <= 0x1p40 ? bytes : default_interval;
}

template <class... Next>
void find_all(Next&... next) noexcept {
  (static_cast<void>(next.find()), ...);
}

__attribute__((constructor)) void begin() noexcept {
  const int number = errno;
  find_all(next_free, next_malloc, next_calloc, next_realloc, next_aligned_alloc, next_memalign, next_posix_memalign,
           next_valloc, next_pvalloc, first_malloc, first_realloc, first_free);
  const char* const mode = detail::system::environment("ADAPTYST_HEAP");
  if (mode != nullptr && !has_next_copy()) start_counting(parse_interval(mode));
  errno = number;
}

}}  // namespace adaptyst::heap

using namespace adaptyst::heap;
using adaptyst::detail::page_bytes;

#define ADAPTYST_HEAP_CALL extern "C" __attribute__((visibility("default")))

ADAPTYST_HEAP_CALL void* malloc(size_t bytes) noexcept {
  return count_down(allocate_with(next_malloc, bytes, bytes), bytes);
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
  return count_down(pass_on([&] { return allocate_with(next_calloc, all, count, bytes); }), all);
}

ADAPTYST_HEAP_CALL void* realloc(void* block, size_t bytes) noexcept { return reallocate(block, bytes); }

// By the first realloc() of the process, as glibc's: a block may be of an allocator in front of this library. The
// reallocarray() of another allocator may call its own realloc(), which is behind.
ADAPTYST_HEAP_CALL void* reallocarray(void* block, size_t count, size_t bytes) noexcept {
  size_t all = 0;
  const auto function = first_realloc.find();
  if (function != nullptr && !__builtin_mul_overflow(count, bytes, &all)) return function(block, all);
  errno = ENOMEM;
  return nullptr;
}

ADAPTYST_HEAP_CALL void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return allocate_aligned_with(next_aligned_alloc, alignment, bytes, alignment, bytes);
}

ADAPTYST_HEAP_CALL void* memalign(size_t alignment, size_t bytes) noexcept {
  return allocate_aligned_with(next_memalign, alignment, bytes, alignment, bytes);
}

ADAPTYST_HEAP_CALL int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  const auto function = next_posix_memalign.find();
  if (function == nullptr) {
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    const int number = errno;
    void* const made = allocate_aligned_with(next_memalign, alignment, bytes, alignment, bytes);
    errno = number;
    if (made == nullptr) return ENOMEM;
    *block = made;
    return 0;
  }
  const int failed = pass_on([&] { return function(block, alignment, bytes); });
  if (failed == 0) count_down(*block, bytes);
  return failed;
}

ADAPTYST_HEAP_CALL void* valloc(size_t bytes) noexcept {
  return allocate_aligned_with(next_valloc, page_bytes, bytes, bytes);
}

ADAPTYST_HEAP_CALL void* pvalloc(size_t bytes) noexcept {
  const std::size_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  const auto function = next_pvalloc.find();
  return count_down(pass_on([&] {
                      return function != nullptr ? function(bytes)
                                                 : allocate_aligned(page_bytes, whole < bytes ? bytes : whole);
                    }),
                    bytes);
}

// C23; an allocator without them frees by address alone.
ADAPTYST_HEAP_CALL void free_sized(void* block, size_t /*bytes*/) noexcept { free(block); }
ADAPTYST_HEAP_CALL void free_aligned_sized(void* block, size_t /*alignment*/, size_t /*bytes*/) noexcept {
  free(block);
}

// For a collector in the program, which has the option memory=. Without it, and without the variable that `adaptyst run`
// sets, nothing is counted. Returns 0 or a number of errno, as start_counting().
ADAPTYST_HEAP_CALL int adaptyst_heap_use(int exact) noexcept {
  if (const auto next = find_next_copy<use_function>("adaptyst_heap_use")) return next(exact);
  return start_counting(exact != 0 ? 0 : default_interval);
}

// For threads of a collector: the calls of this thread are not the program's.
ADAPTYST_HEAP_CALL void adaptyst_heap_exclude_thread() noexcept {
  if (const auto next = find_next_copy<exclude_function>("adaptyst_heap_exclude_thread")) return next();
  busy_with = activity::passing_on;
}
