// libadaptyst-timer.so: samples stacks by a timer of each thread, for `adaptyst run --samples timer`. docs/samples.md
//
// 1. Each thread has a timer of its own CPU time (timer_create with SIGEV_THREAD_ID), which sends SIGURG to it: programs
//    ignore this signal by default, and profilers use others. pthread_create() is defined here to make the timers.
// 2. The handler copies registers and stack to the memory of the observer (adapter/sample_ring.hpp), which finds the
//    callers and, from the time, the region. The stack is copied by the kernel: memory that is not there is no fault.
// 3. The handler allocates nothing, takes no locks, and leaves errno as it was.
// 4. A program that handles SIGURG keeps it: then all timers of the process end. Samples that are missing at the end of
//    a thread or of the program, by CPU time, are counted. exec and signals end a program without a count.
// 5. The number of this process and of its threads must be those of the observer's PID namespace.
#include <adaptyst/adapter/sample_ring.hpp>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#define ADAPTYST_TIMER_CALL extern "C" __attribute__((visibility("default")))
#define ADAPTYST_TIMER_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

namespace adaptyst::timer { namespace {

constexpr int tick_signal = SIGURG;
constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::size_t max_threads = 16384, max_starts = 1024, piece_bytes = 4096;

sample_ring* ring = nullptr;  // null: nothing is sampled
std::uint64_t period_ns = 0;
std::uint32_t slot_count = 0, slot_bytes = 0;
pid_t own_process = 0;
pthread_key_t ends;
std::atomic<bool> is_withheld{false};  // the program handles the signal
char tick_mark;                        // its address is the value of ticks

struct thread_clock {
  std::atomic<bool> is_used{false};
  std::atomic<int> timer{0};               // plus 1; 0: none
  std::atomic<std::uint32_t> thread{0};    // 0: missing samples are not counted
  std::atomic<std::uint64_t> begun_ns{0};  // CPU time from which they are counted
  std::atomic<std::uint64_t> ticks{0};     // with and without samples
};
thread_clock clocks[max_threads];
std::atomic<std::uint32_t> next_clock{0};  // modulo their number

struct thread_state {
  std::uint32_t thread = 0;
  thread_clock* clock = nullptr;  // null: none is free, or the thread ends
};
ADAPTYST_TIMER_THREAD_LOCAL thread_state own;

std::uint64_t read_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * ns_per_second + static_cast<std::uint64_t>(now.tv_nsec);
}

void add(std::uint64_t& counter, std::uint64_t more) noexcept { __atomic_fetch_add(&counter, more, __ATOMIC_RELAXED); }

// A function of the next object that defines it; null: there is none.
template <class Function>
Function* find_next(std::atomic<Function*>& kept, const char* name) noexcept {
  if (Function* const found = kept.load(std::memory_order_relaxed)) return found;
  void* const address = dlsym(RTLD_NEXT, name);
  Function* found = nullptr;
  std::memcpy(&found, &address, sizeof found);
  kept.store(found, std::memory_order_relaxed);
  return found;
}
std::atomic<int (*)(int, const struct sigaction*, struct sigaction*)> kept_sigaction{nullptr};
using signal_function = sighandler_t(int, sighandler_t);
std::atomic<signal_function*> kept_signal{nullptr}, kept_bsd_signal{nullptr}, kept_sysv_signal{nullptr};
std::atomic<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> kept_pthread_create{nullptr};
using exit_function = void(int);
std::atomic<exit_function*> kept_exit_now{nullptr}, kept_standard_exit_now{nullptr};

int change_action(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  const auto next = find_next(kept_sigaction, "sigaction");
  if (next != nullptr) return next(number, action, before);
  errno = ENOSYS;
  return -1;
}

// The state of the slot that was claimed; null: none is free.
std::uint64_t* claim_slot(std::uint32_t& at) noexcept {
  const std::uint64_t claimed = std::uint64_t{own.thread} << 8U | static_cast<unsigned>(sample_slot_state::claimed);
  for (at = 0; at != slot_count; ++at) {
    std::uint64_t before = 0;
    std::uint64_t* const state = &ring->states[at];
    if (__atomic_load_n(state, __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(state, &before, claimed, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return state;
  }
  return nullptr;
}

// Pages at the end of the stack may be missing, so the copy may be shorter.
std::uint32_t copy_stack(void* to, std::uint32_t most, std::uintptr_t from) noexcept {
  iovec remote[max_stack_of_slot / piece_bytes + 1];
  std::size_t count = 0;
  for (std::uint32_t left = most; left != 0; ++count) {
    const std::size_t to_end = piece_bytes - from % piece_bytes;
    const std::size_t bytes = to_end < left ? to_end : left;
    remote[count] = {reinterpret_cast<void*>(from), bytes};
    from += bytes;
    left -= static_cast<std::uint32_t>(bytes);
  }
  const iovec local{to, most};
  const long copied = syscall(SYS_process_vm_readv, own_process, &local, 1UL, remote, count, 0UL);
  return copied > 0 ? static_cast<std::uint32_t>(copied) : 0;
}

// Returns the stack pointer.
std::uintptr_t copy_registers(const ucontext_t& from, std::uint64_t* to) noexcept {
#ifdef __x86_64__
  constexpr int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP};
  constexpr int later[] = {REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  constexpr std::size_t first_later = 16;
  std::memset(to, 0, sample_registers * sizeof *to);
  for (std::size_t at = 0; at != sizeof order / sizeof *order; ++at)
    to[at] = static_cast<std::uint64_t>(from.uc_mcontext.gregs[order[at]]);
  for (std::size_t at = 0; at != sizeof later / sizeof *later; ++at)
    to[first_later + at] = static_cast<std::uint64_t>(from.uc_mcontext.gregs[later[at]]);
  return static_cast<std::uintptr_t>(from.uc_mcontext.gregs[REG_RSP]);
#else
  constexpr std::size_t general = 31;
  for (std::size_t at = 0; at != general; ++at) to[at] = from.uc_mcontext.regs[at];
  to[general] = from.uc_mcontext.sp;
  to[general + 1] = from.uc_mcontext.pc;
  return from.uc_mcontext.sp;
#endif
}

// `samples` 0: only announces the process.
void publish(std::uint32_t samples, const ucontext_t* from) noexcept {
  if (ring == nullptr) return;
  std::uint32_t at = 0;
  std::uint64_t* const state = claim_slot(at);
  if (state == nullptr) return add(ring->full, samples);
  char* const begin = reinterpret_cast<char*>(ring) + sample_ring_head_bytes + std::size_t{at} * slot_bytes;
  auto& slot = *reinterpret_cast<sample_slot*>(begin);
  slot.process = static_cast<std::uint32_t>(own_process);
  slot.thread = own.thread;
  slot.samples = samples;
  slot.stack_bytes = 0;
  if (from != nullptr) {
    const std::uintptr_t stack = copy_registers(*from, slot.registers);
    const auto most = static_cast<std::uint32_t>(slot_bytes - sizeof slot);
    slot.stack_bytes = copy_stack(begin + sizeof slot, most < max_stack_of_slot ? most : max_stack_of_slot, stack);
  }
  slot.time_ns = read_ns(CLOCK_MONOTONIC);
  std::uint64_t claimed = std::uint64_t{own.thread} << 8U | static_cast<unsigned>(sample_slot_state::claimed);
  const std::uint64_t published =
      claimed - static_cast<unsigned>(sample_slot_state::claimed) + static_cast<unsigned>(sample_slot_state::published);
  __atomic_compare_exchange_n(state, &claimed, published, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void on_tick(int, siginfo_t* info, void* context) noexcept {
  if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &tick_mark) return;
  const int number = errno;
  std::uint32_t ticks = info->si_overrun > 0 ? static_cast<std::uint32_t>(info->si_overrun) + 1 : 1;
  if (own.clock != nullptr) own.clock->ticks.fetch_add(ticks, std::memory_order_relaxed);
  if (ticks > max_samples_of_slot) {
    add(ring->without_signal, ticks - 1);
    ticks = 1;
  }
  publish(ticks, static_cast<const ucontext_t*>(context));
  errno = number;
}

// Uniform in a period, so that a thread of any length has its share of samples.
std::uint64_t draw_first_ns() noexcept {
  std::uint64_t mixed = (read_ns(CLOCK_MONOTONIC) ^ std::uint64_t{own.thread} << 32U) * 0x9e3779b97f4a7c15U;
  mixed ^= mixed >> 32U;
  return mixed % period_ns + 1;
}

timespec to_timespec(std::uint64_t ns) noexcept {
  return {static_cast<time_t>(ns / ns_per_second), static_cast<long>(ns % ns_per_second)};
}

// Null: there are too many threads.
thread_clock* take_clock() noexcept {
  const std::uint32_t from = next_clock.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t step = 0; step != max_threads; ++step) {
    thread_clock& clock = clocks[(from + step) % max_threads];
    if (!clock.is_used.load(std::memory_order_relaxed) && !clock.is_used.exchange(true)) return &clock;
  }
  return nullptr;
}

void end_timer(thread_clock& of) noexcept {
  if (of.timer.load(std::memory_order_relaxed) == 0) return;
  if (const int timer = of.timer.exchange(0); timer != 0) syscall(SYS_timer_delete, timer - 1);
}

template <class Function>
void for_each_clock(const Function& function) noexcept {
  const std::uint32_t next = next_clock.load(std::memory_order_relaxed);
  for (std::uint32_t at = 0, used = next < max_threads ? next : max_threads; at != used; ++at) function(clocks[at]);
}

// The program keeps its handler.
void withhold() noexcept {
  is_withheld = true;
  for_each_clock([](thread_clock& clock) { end_timer(clock); });
}

// False: there are too many timers.
bool start_timer(thread_clock& of) noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = tick_signal;
  event.sigev_value.sival_ptr = &tick_mark;
  event._sigev_un._tid = static_cast<pid_t>(own.thread);
  int timer = 0;
  if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return false;
  of.timer = timer + 1;
  const itimerspec when{to_timespec(period_ns), to_timespec(draw_first_ns())};
  syscall(SYS_timer_settime, timer, 0, &when, nullptr);
  if (is_withheld) end_timer(of);
  return true;
}

void arm() noexcept {
  own = {static_cast<std::uint32_t>(syscall(SYS_gettid)), take_clock()};
  if (own.clock == nullptr) return add(ring->without_timer, 1);
  own.clock->begun_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
  own.clock->ticks = 0;
  own.clock->thread = own.thread;
  if (is_withheld || start_timer(*own.clock)) return;
  own.clock->thread = 0;
  add(ring->without_timer, 1);
}

// Counts the ticks that are missing at the end of a thread. The first comes within a period, and the last may be on its
// way.
void count_missing(thread_clock& of) noexcept {
  constexpr std::uint64_t on_the_way = 2;
  const std::uint32_t thread = of.thread.exchange(0);
  if (thread == 0) return;
  constexpr std::uint32_t cpu_time_of_thread = 6;  // the form of clock numbers in Linux
  const std::uint64_t now_ns = read_ns(static_cast<clockid_t>(~thread << 3U | cpu_time_of_thread));
  const std::uint64_t begun_ns = of.begun_ns.load(std::memory_order_relaxed);
  const std::uint64_t expected = (now_ns - (now_ns < begun_ns ? now_ns : begun_ns)) / period_ns;
  const std::uint64_t ticks = of.ticks.load(std::memory_order_relaxed);
  if (expected > ticks + on_the_way) add(ring->without_signal, expected - ticks);
}

void end_thread(void*) noexcept {
  thread_clock* const clock = own.clock;
  if (clock == nullptr || ring == nullptr || getpid() != own_process) return;
  const int number = errno;
  end_timer(*clock);
  own.clock = nullptr;
  count_missing(*clock);
  clock->is_used = false;
  errno = number;
}

// Whether the observer knows this process by the same number.
bool has_observers_number() noexcept {
  char name[32] = {};
  return readlink("/proc/self", name, sizeof name - 1) > 0 && std::atol(name) == own_process;
}

void begin_process() noexcept {
  own_process = getpid();
  if (!has_observers_number()) {
    ring = nullptr;
    return;
  }
  arm();
  publish(0, nullptr);
}

// Timers stay in the parent.
void after_fork() noexcept {
  if (ring == nullptr) return;
  const int number = errno;
  for_each_clock([](thread_clock& clock) {
    clock.timer = 0;
    clock.thread = 0;
    clock.is_used = false;
  });
  next_clock = 0;
  begin_process();
  errno = number;
}

bool open_ring(const char* file) noexcept {
  // The observer may have ended, and the number be that of another file.
  constexpr char wanted[] = "/memfd:adaptyst-samples";
  char name[sizeof wanted] = {};
  if (readlink(file, name, sizeof name - 1) < 0 || std::memcmp(name, wanted, sizeof wanted) != 0) return false;
  const int opened = open(file, O_RDWR | O_CLOEXEC);
  if (opened < 0) return false;
  struct stat status {};
  void* mapped = MAP_FAILED;
  const bool has_size =
      fstat(opened, &status) == 0 && static_cast<std::size_t>(status.st_size) > sample_ring_head_bytes;
  if (has_size)
    mapped = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  close(opened);
  if (mapped == MAP_FAILED) return false;
  madvise(mapped, static_cast<std::size_t>(status.st_size), MADV_DONTDUMP);  // stacks of all programs
  auto* const found = static_cast<sample_ring*>(mapped);
  // Others may write to this memory at any time.
  period_ns = __atomic_load_n(&found->period_ns, __ATOMIC_RELAXED);
  slot_count = __atomic_load_n(&found->slots, __ATOMIC_RELAXED);
  slot_bytes = __atomic_load_n(&found->slot_bytes, __ATOMIC_RELAXED);
  const bool is_right = found->form == sample_ring_form && slot_count != 0 && slot_count <= max_sample_slots &&
                        slot_bytes >= sizeof(sample_slot) && slot_bytes % alignof(sample_slot) == 0 &&
                        period_ns >= ns_per_second / max_timer_frequency && period_ns <= ns_per_second &&
                        sample_ring_bytes(slot_count, slot_bytes) <= static_cast<std::size_t>(status.st_size);
  if (is_right) ring = found;
  else munmap(mapped, static_cast<std::size_t>(status.st_size));
  return is_right;
}

void install_handler() noexcept {
  struct sigaction before {};
  if (change_action(tick_signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) {
    is_withheld = true;
    return;
  }
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  // Not SA_ONSTACK: an alternate stack may be too small for the frame of a signal.
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigfillset(&action.sa_mask);  // a handler on top may leave by longjmp()
  if (change_action(tick_signal, &action, nullptr) != 0) is_withheld = true;
}

// Async-signal-safe: handlers and children of vfork() call _exit(). The child shares this memory, and counts nothing.
__attribute__((destructor)) void finish() noexcept {
  if (ring == nullptr || getpid() != own_process) return;
  const int number = errno;
  for_each_clock(count_missing);  // also of threads that still run
  errno = number;
}

[[noreturn]] void exit_now(exit_function* next, int status) noexcept {
  finish();
  if (next != nullptr) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

// Before main(), or at the first pthread_create(): libraries of the program have their constructors earlier.
__attribute__((constructor)) void begin() noexcept {
  static std::atomic<bool> has_begun{false};
  if (has_begun.exchange(true)) return;
  const int number = errno;
  // A later search would wait for the loader's lock, which a constructor of a plugin may hold.
  find_next(kept_sigaction, "sigaction");
  find_next(kept_signal, "signal");
  find_next(kept_bsd_signal, "bsd_signal");
  find_next(kept_sysv_signal, "__sysv_signal");
  find_next(kept_pthread_create, "pthread_create");
  find_next(kept_exit_now, "_exit");
  find_next(kept_standard_exit_now, "_Exit");
  const char* const file = std::getenv("ADAPTYST_SAMPLES");
  if (file != nullptr && open_ring(file)) {
    install_handler();
    if (pthread_key_create(&ends, end_thread) == 0 && pthread_atfork(nullptr, nullptr, after_fork) == 0)
      begin_process();
    else ring = nullptr;
    if (ring != nullptr) at_quick_exit(finish);  // the earliest is called last
  }
  errno = number;
}

// Passes the function of a new thread to it.
struct thread_start {
  std::atomic<bool> is_taken{false};
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
};
thread_start starts[max_starts];

thread_start* take_start() noexcept {
  for (thread_start& start : starts)
    if (!start.is_taken.load(std::memory_order_relaxed) && !start.is_taken.exchange(true, std::memory_order_acquire))
      return &start;
  return nullptr;
}

// Not noexcept: pthread_exit() unwinds it.
void* run_thread(void* given) {
  auto& start = *static_cast<thread_start*>(given);
  const auto function = start.function;
  void* const argument = start.argument;
  start.is_taken.store(false, std::memory_order_release);
  if (ring != nullptr && getpid() != own_process) after_fork();  // of _Fork(), without handlers
  else if (ring != nullptr && pthread_setspecific(ends, &own) == 0) arm();
  return function(argument);
}

// The action of the program, which does not see the handler of this library.
bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_tick;
}
void hide(struct sigaction& action) noexcept {
  if (!is_ours(action)) return;
  action = {};
  action.sa_handler = SIG_DFL;
}

// A child of vfork() shares this memory, but not the timers.
bool concerns_ticks(int number) noexcept {
  return number == tick_signal && ring != nullptr && !is_withheld && getpid() == own_process;
}

sighandler_t set_handler(signal_function* next, int number, sighandler_t handler) noexcept {
  if (next == nullptr) {
    errno = ENOSYS;
    return SIG_ERR;
  }
  if (!concerns_ticks(number) || handler == SIG_ERR) return next(number, handler);
  if (handler == SIG_DFL) return SIG_DFL;
  withhold();
  return next(number, handler) == SIG_ERR ? SIG_ERR : SIG_DFL;
}

}}  // namespace adaptyst::timer

ADAPTYST_TIMER_CALL int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                                       void* argument) noexcept {
  using namespace adaptyst::timer;
  begin();
  const auto next = find_next(kept_pthread_create, "pthread_create");
  if (next == nullptr) return ENOSYS;
  if (ring == nullptr) return next(thread, attributes, function, argument);
  thread_start* const start = take_start();
  if (start == nullptr) {
    add(ring->without_timer, 1);
    return next(thread, attributes, function, argument);
  }
  start->function = function;
  start->argument = argument;
  const int failed = next(thread, attributes, run_thread, start);
  if (failed != 0) start->is_taken.store(false, std::memory_order_release);
  return failed;
}

ADAPTYST_TIMER_CALL int sigaction(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  using namespace adaptyst::timer;
  const bool concerns = concerns_ticks(number);
  const bool is_default = action != nullptr && (action->sa_flags & SA_SIGINFO) == 0 && action->sa_handler == SIG_DFL;
  if (concerns && action != nullptr && !is_default) withhold();
  const int failed = change_action(number, concerns && is_default ? nullptr : action, before);
  if (failed == 0 && before != nullptr) hide(*before);
  return failed;
}

ADAPTYST_TIMER_CALL sighandler_t signal(int number, sighandler_t handler) noexcept {
  using namespace adaptyst::timer;
  return set_handler(find_next(kept_signal, "signal"), number, handler);
}
ADAPTYST_TIMER_CALL sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  using namespace adaptyst::timer;
  return set_handler(find_next(kept_bsd_signal, "bsd_signal"), number, handler);
}
// signal() of programs that are compiled for System V's rules.
ADAPTYST_TIMER_CALL sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  using namespace adaptyst::timer;
  return set_handler(find_next(kept_sysv_signal, "__sysv_signal"), number, handler);
}

ADAPTYST_TIMER_CALL void _exit(int status) {
  using namespace adaptyst::timer;
  exit_now(kept_exit_now.load(std::memory_order_relaxed), status);
}
ADAPTYST_TIMER_CALL void _Exit(int status) noexcept {
  using namespace adaptyst::timer;
  exit_now(kept_standard_exit_now.load(std::memory_order_relaxed), status);
}
