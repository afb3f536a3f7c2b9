// A program without frame pointers and with known chains of calls: unwound COMMAND SECONDS.
//
//   chain      computes in solve > assemble > integrate
//   calls      the same for half of the time, then in the kernel in region `reads`; sleeps 0.3 s in region `rests`
//   marks      begins and ends short regions in `marks`
//   disturbed  the same, while a handler interrupts it each 30 ms of CPU time and computes for 20 ms
//   sorted     computes in compares, called by the C library's qsort(), called by sorts
//   deep       computes below 200 frames of 1 KiB
//   signalled  computes in a handler that interrupts works
//   threads    the same chain in 4 threads, of which each lives 50 ms
//   same       a function with an unwinding table that leads to itself
//   endless    a function with an endless loop in its unwinding table
//   register   a function whose unwinding table has the register number 1,000,000,000
//   remembers  a function whose unwinding table remembers 100,000 states of 100,000 registers
//   library    computes in the shared library in $UNWOUND_LIBRARY: in `works_here`, for the last third in `works_later`
//
// SECONDS are of its CPU time, which it prints at the end in microseconds.
#include <adaptyst/region.hpp>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

// CPU time of the process: on a loaded machine, samples are as many.
struct clock_type {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<clock_type>;
  [[maybe_unused]] static constexpr bool is_steady = true;  // Clang 14 warns where no template uses it
  static time_point now() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return time_point(std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec));
  }
};
clock_type::time_point deadline;
volatile unsigned long sink = 0;

bool is_over() { return clock_type::now() >= deadline; }

}  // namespace

__attribute__((noinline)) void integrate(clock_type::time_point until) {
  for (unsigned step = 0; step % 65536 != 0 || clock_type::now() < until; ++step) sink = sink * 3 + 1;
}
__attribute__((noinline)) void assemble(clock_type::time_point until) {
  integrate(until);
  sink = sink + 1;  // no tail call
}
__attribute__((noinline)) void solve(clock_type::time_point until) {
  ADAPTYST_REGION("solves");
  assemble(until);
  sink = sink + 1;
}

__attribute__((noinline)) void reads() {
  ADAPTYST_REGION("reads");
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  std::vector<char> buffer(1U << 20U);
  while (!is_over() && read(zeros, buffer.data(), buffer.size()) > 0) {}
  close(zeros);
}
__attribute__((noinline)) void marks() {
  while (!is_over())
    for (int step = 0; step != 1000; ++step) {
      ADAPTYST_REGION("short");
      sink = sink + 1;
    }
}
__attribute__((noinline)) void rests() {
  ADAPTYST_REGION("rests");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  sink = sink + 1;
}

__attribute__((noinline)) int compares(const void* left, const void* right) {
  for (int step = 0; step != 20000; ++step) sink = sink * 3 + 1;
  return *static_cast<const int*>(left) < *static_cast<const int*>(right) ? -1 : 1;
}
__attribute__((noinline)) void sorts() {
  ADAPTYST_REGION("sorts");
  while (!is_over()) {
    std::vector<int> values;
    for (int at = 0; at != 64; ++at) values.push_back((at * 37) % 64);
    std::qsort(values.data(), values.size(), sizeof values[0], compares);
  }
  sink = sink + 1;
}

__attribute__((noinline)) void goes_deeper(int levels) {  // NOLINT(misc-no-recursion)
  volatile char room[1024];
  room[levels] = 1;
  if (levels != 0) goes_deeper(levels - 1);
  else integrate(deadline);
  sink = sink + static_cast<unsigned long>(room[levels]);
}

__attribute__((noinline)) void handles(int) {
  integrate(clock_type::now() + std::chrono::milliseconds(20));
  sink = sink + 1;
}
__attribute__((noinline)) void works() {
  std::signal(SIGALRM, handles);
  while (!is_over()) {
    for (int step = 0; step != 1000; ++step) sink = sink * 3 + 1;
    std::raise(SIGALRM);
  }
}

__attribute__((noinline)) void disturbs() {
  std::signal(SIGPROF, handles);
  const itimerval each{{0, 30'000}, {0, 30'000}};
  setitimer(ITIMER_PROF, &each, nullptr);
  marks();
  sink = sink + 1;
}

#if defined(__x86_64__)
// Loops for the number of steps in its argument. The caller of `leads_to_itself` is, by its table, the same address with
// the same stack; a table of `never_ends` has a jump to itself. A processor may report all samples at `dec`: without `nop`, the
// address before it, where a caller is searched, would have no table.
asm(R"(
  .pushsection .text
  .globl leads_to_itself
  .type leads_to_itself, @function
leads_to_itself:
  .cfi_startproc
  .cfi_def_cfa %rsp, 0
  .cfi_same_value %rip
  nop
1: dec %rdi
  jnz 1b
  ret
  .cfi_endproc
  .size leads_to_itself, . - leads_to_itself
  .globl never_ends
  .type never_ends, @function
never_ends:
  .cfi_startproc
  .cfi_escape 0x16, 0x10, 0x03, 0x2f, 0xfd, 0xff
1: dec %rdi
  jnz 1b
  ret
  .cfi_endproc
  .size never_ends, . - never_ends
  .globl has_register
  .type has_register, @function
has_register:
  .cfi_startproc
  .cfi_escape 0x07, 0x80, 0x94, 0xeb, 0xdc, 0x03
1: dec %rdi
  jnz 1b
  ret
  .cfi_endproc
  .size has_register, . - has_register
  .globl remembers
  .type remembers, @function
remembers:
  .cfi_startproc
  .cfi_escape 0x07, 0xa0, 0x8d, 0x06
  .rept 100000
  .cfi_remember_state
  .endr
1: dec %rdi
  jnz 1b
  ret
  .cfi_endproc
  .size remembers, . - remembers
  .popsection
)");
extern "C" void has_register(unsigned long steps);
extern "C" void remembers(unsigned long steps);
extern "C" void leads_to_itself(unsigned long steps);
extern "C" void never_ends(unsigned long steps);
#endif

int main(int count, char** given) {
  const std::string what = count > 1 ? given[1] : "";
  const double seconds = count > 2 ? std::atof(given[2]) : 1;
  deadline =
      clock_type::now() + std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(seconds));
  if (what == "chain") {
    solve(deadline);
  } else if (what == "calls") {
    const auto now = clock_type::now();
    solve(now + (deadline - now) / 2);
    reads();
    rests();
  } else if (what == "marks") {
    marks();
  } else if (what == "disturbed") {
    disturbs();
  } else if (what == "sorted") {
    sorts();
  } else if (what == "library") {
    const char* const file = std::getenv("UNWOUND_LIBRARY");
    void* const opened = dlopen(file, RTLD_NOW);
    if (opened == nullptr) return 2;
    void* const here = dlsym(opened, "works_here");
    void* const later = dlsym(opened, "works_later");
    if (here == nullptr || later == nullptr) return 2;
    const auto last =
        deadline - std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(seconds / 3));
    while (!is_over()) reinterpret_cast<void (*)(unsigned long)>(clock_type::now() < last ? here : later)(1'000'000);
  } else if (what == "deep") {
    goes_deeper(200);
  } else if (what == "signalled") {
    works();
  } else if (what == "threads") {
    const auto work = [] { solve(clock_type::now() + std::chrono::milliseconds(50)); };
    while (!is_over()) {
      std::vector<std::thread> all;
      for (int at = 0; at != 4; ++at) all.emplace_back(work);
      for (std::thread& one : all) one.join();
    }
#if defined(__x86_64__)
  } else if (what == "same") {
    while (!is_over()) leads_to_itself(1'000'000);
  } else if (what == "endless") {
    while (!is_over()) never_ends(1'000'000);
  } else if (what == "register") {
    while (!is_over()) has_register(1'000'000);
  } else if (what == "remembers") {
    while (!is_over()) remembers(1'000'000);
#endif
  } else {
    std::fprintf(
        stderr,
        "usage: unwound chain|calls|marks|disturbed|sorted|deep|signalled|threads|same|endless|register|remembers|library "
        "SECONDS\n");
    return 2;
  }
  std::printf("%ld\n", static_cast<long>(std::clock() / (CLOCKS_PER_SEC / 1'000'000)));
}
