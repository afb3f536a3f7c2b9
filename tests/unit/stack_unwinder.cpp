// Copies of stacks that lie: any bytes end within bounds.
#include "symbolise/stack_unwinder.hpp"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "support/process_maps.hpp"

namespace {

using adaptyst::lib::stack_unwinder;

std::size_t count_registers() {
  std::size_t number = 0;
  for (std::uint64_t mask = stack_unwinder::needed_registers(); mask != 0; mask &= mask - 1) ++number;
  return number;
}

int some_code(int value) { return value + 1; }

using end_of_stack = stack_unwinder::end;

end_of_stack unwind_with(stack_unwinder& unwinder, pid_t process, const adaptyst::lib::copied_stack& copy,
                         std::vector<std::uint64_t>& frames) {
  end_of_stack made = end_of_stack::complete;
  unwinder.unwind({{process, copy}}, [&](std::size_t, end_of_stack how, const std::vector<std::uint64_t>& found) {
    made = how;
    frames = found;
  });
  return made;
}

}  // namespace

TEST_CASE("a stack of any bytes, at any code, has at most 127 frames") {
  if (stack_unwinder::needed_registers() == 0) {
    WARN("this build cannot unwind copies");
    return;
  }
  constexpr std::uint64_t stack_at = 0x7ffd'0000'0000;
  std::minstd_rand numbers(11);
  const std::vector<std::uint64_t> code = {reinterpret_cast<std::uint64_t>(&some_code),
                                           reinterpret_cast<std::uint64_t>(&count_registers),
                                           reinterpret_cast<std::uint64_t>(&std::memcpy),
                                           0,
                                           ~std::uint64_t{0},
                                           1};
  {
    stack_unwinder unwinder;
    for (int round = 0; round != 300; ++round) {
      CAPTURE(round);
      std::vector<char> bytes(numbers() % 9 * 1024);
      for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        // Code, addresses in the copy, and others.
        const std::uint64_t kind = numbers() % 3;
        const std::uint64_t word = kind == 0   ? code[numbers() % code.size()] + numbers() % 64
                                   : kind == 1 ? stack_at + numbers() % 9000
                                               : std::uint64_t{numbers()} << (numbers() % 64);
        std::memcpy(bytes.data() + at, &word, sizeof word);
      }
      std::vector<std::uint64_t> registers(count_registers());
      for (std::uint64_t& value : registers) {
        const std::uint64_t kind = numbers() % 3;
        value = kind == 0 ? stack_at : kind == 1 ? code[numbers() % code.size()] : stack_at + numbers() % 8192;
      }
      std::vector<std::uint64_t> frames;
      unwind_with(unwinder, getpid(), {registers, {bytes.data(), bytes.size()}, 8192}, frames);
      CHECK(frames.size() >= 1);
      CHECK(frames.size() <= 127);
    }
    CHECK(unwinder.used_ns() > 0);
  }
}

#if defined(__x86_64__)
// A function that returns before its end, as compilers write it: the table remembers the state of the body.
asm(R"(
  .pushsection .text
  .globl returns_early, returns_early_body, returns_early_end, returns_early_body_again
returns_early:
  .cfi_startproc
  sub $64, %rsp
  .cfi_adjust_cfa_offset 64
returns_early_body:
  test %rdi, %rdi
  jz returns_early_body_again
  .cfi_remember_state
  add $64, %rsp
  .cfi_adjust_cfa_offset -64
returns_early_end:
  ret
  .cfi_restore_state
returns_early_body_again:
  add $64, %rsp
  .cfi_adjust_cfa_offset -64
  ret
  .cfi_endproc
  .popsection
)");
extern "C" const char returns_early_body, returns_early_end, returns_early_body_again;

// Code of probes, which has no table, and returns from signal handlers: with a usual table, and with an expression.
asm(R"(
  .pushsection .text
  .globl long_probe_code, short_probe_code, no_probe_code, returns_from_signal, returns_by_expression
  .balign 16
long_probe_code:
  nop
  .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
  .byte 0x0f, 0x1f, 0x44, 0, 0
  ret
  .balign 16
short_probe_code:
  nop
  ret
  .balign 16
no_probe_code:
  push %rax
  ret
  .balign 16
returns_from_signal:
  .cfi_startproc
  .cfi_signal_frame
  nop
  nop
  .cfi_endproc
returns_by_expression:
  .cfi_startproc
  .cfi_signal_frame
  .cfi_escape 0x0f, 2, 0x77, 8
  nop
  nop
  .cfi_endproc
  .popsection
)");
extern "C" void long_probe_code();
extern "C" const char short_probe_code, no_probe_code, returns_from_signal, returns_by_expression;

namespace {

constexpr std::size_t stack_pointer_of_copy = 7, pc_of_copy = 8;
constexpr std::size_t red_zone_words = 16;

std::uint64_t address_of(const char& code) { return reinterpret_cast<std::uint64_t>(&code); }
std::uint64_t long_probe_at(std::uint64_t offset) { return reinterpret_cast<std::uint64_t>(&long_probe_code) + offset; }
std::uint64_t caller_of_all() { return reinterpret_cast<std::uint64_t>(&some_code) + 1; }

std::vector<std::uint64_t> unwind_words(stack_unwinder& unwinder, std::uint64_t pc, std::vector<std::uint64_t> words) {
  std::vector<std::uint64_t> registers(count_registers(), 0), frames;
  registers[stack_pointer_of_copy] = 0x7ffd'0000'0000;
  registers[pc_of_copy] = pc;
  words.resize(words.size() + 8);
  const std::string_view bytes{reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
  unwind_with(unwinder, getpid(), {registers, bytes, 8192}, frames);
  return frames;
}

// Words between the stack pointer and what follows.
std::vector<std::uint64_t> behind(std::size_t number, const std::vector<std::uint64_t>& rest) {
  std::vector<std::uint64_t> made(number, 0x1111);
  made.insert(made.end(), rest.begin(), rest.end());
  return made;
}

bool has_frames(const std::vector<std::uint64_t>& frames, const std::vector<std::uint64_t>& expected) {
  return frames.size() >= expected.size() && std::equal(expected.begin(), expected.end(), frames.begin());
}

std::optional<adaptyst::lib::mapping> find_mapping(
    const std::function<bool(const adaptyst::lib::mapping&)>& is_wanted) {
  std::optional<adaptyst::lib::mapping> found;
  adaptyst::lib::for_each_mapping(getpid(), [&](const adaptyst::lib::mapping& piece) {
    if (!found && is_wanted(piece)) found = piece;
  });
  return found;
}

// A uprobe of the kernel in this process; -1: not permitted, or the instruction is refused.
int attach_at(std::uint64_t address) {
  const auto code = find_mapping([&](const auto& piece) { return piece.begin <= address && address < piece.end; });
  perf_event_attr attributes{};
  if (!code || !(std::ifstream("/sys/bus/event_source/devices/uprobe/type") >> attributes.type)) return -1;
  attributes.size = sizeof attributes;
  attributes.config1 = reinterpret_cast<std::uint64_t>(code->path.c_str());
  attributes.config2 = address - code->begin + code->offset;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

// Where the kernel's trampoline begins, which this process gets with an optimised probe; 0: there is none.
std::uint64_t make_trampoline() {
  const int probes[] = {attach_at(long_probe_at(1)), attach_at(long_probe_at(11))};
  for (int hit = 0; hit != 3; ++hit) long_probe_code();
  for (const int probe : probes)
    if (probe >= 0) close(probe);
  const auto made = find_mapping([](const auto& piece) { return piece.path == "[uprobes-trampoline]"; });
  return made ? made->begin : 0;
}

}  // namespace

TEST_CASE("a probe has a caller at each instruction") {
  if (stack_unwinder::needed_registers() == 0) return;
  stack_unwinder unwinder;
  const std::uint64_t caller = caller_of_all();
  for (const std::uint64_t offset : {0U, 1U, 11U, 16U}) {
    CAPTURE(offset);
    CHECK(has_frames(unwind_words(unwinder, long_probe_at(offset), {caller}), {long_probe_at(offset), caller}));
  }
  // From Linux 7.3 on, between the instruction that skips the red zone and the call.
  const std::vector<std::uint64_t> skipped = behind(red_zone_words, {caller});
  CHECK(has_frames(unwind_words(unwinder, long_probe_at(6), skipped), {long_probe_at(6), caller}));
  for (const std::uint64_t offset : {0U, 1U}) {
    CAPTURE(offset);
    const std::uint64_t pc = address_of(short_probe_code) + offset;
    CHECK(has_frames(unwind_words(unwinder, pc, {caller}), {pc, caller}));
  }
  const std::uint64_t other = address_of(no_probe_code);
  CHECK(unwind_words(unwinder, other, {caller}).size() == 1);
  CHECK(unwind_words(unwinder, other + 1, {0x1111, caller}).size() == 1);
  CHECK(unwind_words(unwinder, long_probe_at(3), {caller}).size() == 1);  // within an instruction
}

TEST_CASE("a probe that was interrupted by a signal handler has a caller") {
  if (stack_unwinder::needed_registers() == 0) return;
  for (const char* const handler : {&returns_from_signal, &returns_by_expression}) {
    CAPTURE(handler == &returns_from_signal);
    stack_unwinder unwinder;
    const std::uint64_t pc = address_of(*handler) + 1, probe = long_probe_at(1), caller = caller_of_all();
    CHECK(has_frames(unwind_words(unwinder, pc, {probe, caller}), {pc, probe + 1, caller}));
    // A function that has called another is interrupted: no probe.
    const std::uint64_t other = address_of(no_probe_code);
    CHECK(unwind_words(unwinder, pc, {other, caller}).size() == 2);
  }
}

TEST_CASE("the kernel's trampoline has a caller at each instruction") {
  if (stack_unwinder::needed_registers() == 0) return;
  stack_unwinder before;
  const std::uint64_t handler = address_of(returns_from_signal) + 1, caller = caller_of_all();
  unwind_words(before, handler, {caller});  // reads the mappings
  const std::uint64_t trampoline = make_trampoline();
  if (trampoline == 0) {
    WARN("no trampoline: this kernel does not optimise probes, or does not permit them");
    return;
  }
  // push %rcx; push %r11; push %rax; mov $336, %rax; syscall; pop %rax; pop %r11; pop %rcx; then a return
  const unsigned char code[] = {0x51, 0x41, 0x53, 0x50, 0x48, 0xc7, 0xc0, 0x50, 0x01,
                                0x00, 0x00, 0x0f, 0x05, 0x58, 0x41, 0x5b, 0x59};
  const auto* const mapped = reinterpret_cast<const void*>(trampoline);
  CHECK(std::memcmp(mapped, code, sizeof code) == 0);
  const std::pair<std::uint64_t, std::size_t> words_at[] = {{0, 0},  {1, 1},  {3, 2},  {4, 3}, {11, 3},
                                                            {13, 3}, {14, 2}, {16, 1}, {17, 0}};
  stack_unwinder unwinder;
  for (const auto& [offset, words] : words_at) {
    CAPTURE(offset);
    const std::uint64_t pc = trampoline + offset, by_nop5 = long_probe_at(16), by_nop10 = long_probe_at(11);
    CHECK(has_frames(unwind_words(unwinder, pc, behind(words, {by_nop5, caller})), {pc, by_nop5, caller}));
    std::vector<std::uint64_t> skipped = behind(words, {by_nop10});
    const std::vector<std::uint64_t> rest = behind(red_zone_words, {caller});
    skipped.insert(skipped.end(), rest.begin(), rest.end());
    CHECK(has_frames(unwind_words(unwinder, pc, skipped), {pc, by_nop10, caller}));
  }
  CHECK(unwind_words(unwinder, trampoline + 2, behind(1, {long_probe_at(16), caller})).size() == 1);
  CHECK(unwind_words(unwinder, trampoline + 18, {long_probe_at(16), caller}).size() == 1);

  // The stack leads there from code that was mapped before.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::vector<std::uint64_t> stack = {trampoline, long_probe_at(16), caller};
  CHECK(has_frames(unwind_words(before, handler, stack), {handler, trampoline + 1, long_probe_at(16), caller}));
}

TEST_CASE("each range of a function has the rule of the range, in any order") {
  if (stack_unwinder::needed_registers() == 0) return;
  constexpr std::size_t stack_pointer_at = 7, pc_at = 8, words = 20;
  const auto caller = reinterpret_cast<std::uint64_t>(&some_code) + 1;
  struct place {
    const char* code;
    std::size_t to_caller;  // words of the stack
  };
  const place body{&returns_early_body, 8}, end{&returns_early_end, 0}, again{&returns_early_body_again, 8};
  for (const auto& order :
       {std::vector{body, end, again}, {again, end, body}, {end, again, body}, {again, body, end}}) {
    stack_unwinder unwinder;
    for (const place& at : order) {
      CAPTURE(at.code - &returns_early_body);
      std::vector<std::uint64_t> registers(count_registers(), 0), stack(words, 0), frames;
      registers[stack_pointer_at] = 0x7ffd'0000'0000;
      registers[pc_at] = reinterpret_cast<std::uint64_t>(at.code);
      stack[at.to_caller] = caller;
      const std::size_t bytes = words * sizeof stack[0];
      unwind_with(unwinder, getpid(), {registers, {reinterpret_cast<const char*>(stack.data()), bytes}, 8192}, frames);
      REQUIRE(frames.size() >= 2);
      CHECK(frames[1] == caller);
    }
  }
}
#endif

TEST_CASE("a process that does not exist has only the innermost function, and other registers none") {
  if (stack_unwinder::needed_registers() == 0) return;
  stack_unwinder unwinder;
  constexpr pid_t no_process = 0x3fffffff;
  const std::vector<std::uint64_t> registers(count_registers(), 0x1234);
  std::vector<std::uint64_t> frames;
  CHECK(unwind_with(unwinder, no_process, {registers, {}, 8192}, frames) == stack_unwinder::end::broken);
  CHECK(frames == std::vector<std::uint64_t>{0x1234});
  frames.clear();
  CHECK(unwind_with(unwinder, getpid(), {{}, {}, 8192}, frames) == stack_unwinder::end::broken);
  CHECK(frames.empty());
}

namespace {

// The child of this thread that was started last; 0: none.
pid_t find_child() {
  std::ifstream list("/proc/thread-self/children");
  pid_t last = 0;
  for (pid_t child = 0; list >> child;) last = child;
  return last;
}

}  // namespace

TEST_CASE("a process with a stack that ends or stops the child is refused; others have callers again after a pause") {
  if (stack_unwinder::needed_registers() == 0) return;
  stack_unwinder unwinder;
  const std::vector<std::uint64_t> registers(count_registers(), reinterpret_cast<std::uint64_t>(&some_code));
  std::vector<std::uint64_t> frames;
  const auto unwind = [&](pid_t process) { unwind_with(unwinder, process, {registers, {}, 8192}, frames); };
  pid_t last = 0;
  for (pid_t process = 1; process != 5; ++process) {
    CAPTURE(process);
    unwind(getpid());
    const pid_t child = find_child();
    REQUIRE(child > 0);
    CHECK(child != last);
    last = child;
    kill(child, process == 2 ? SIGSTOP : SIGKILL);
    siginfo_t how;
    if (process != 2) waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT);
    const auto begun = std::chrono::steady_clock::now();
    unwind(process);
    CHECK(frames == std::vector<std::uint64_t>{registers[0]});
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));
    CHECK(kill(child, 0) != 0);  // ended, and waited for
    if (process == 2) {
      unwind(process);
      CHECK(frames == std::vector<std::uint64_t>{registers[0]});
      CHECK(find_child() == 0);  // the process is refused
    }
  }
  unwind(getpid());
  CHECK(frames == std::vector<std::uint64_t>{registers[0]});
  CHECK(find_child() == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  unwind(getpid());
  CHECK(find_child() > 0);
}

TEST_CASE("of stacks that are unwound together, that which ends the child is lost, and the others are taken in order") {
  if (stack_unwinder::needed_registers() == 0) return;
  stack_unwinder unwinder;
  const std::vector<std::uint64_t> registers(count_registers(), reinterpret_cast<std::uint64_t>(&some_code));
  std::vector<stack_unwinder::process_stack> all;
  for (pid_t process = 1; process != 41; ++process) all.push_back({process, {registers, {}, 8192}});
  const pid_t child = find_child();
  REQUIRE(child > 0);
  kill(child, SIGSTOP);
  std::vector<std::size_t> taken;
  unwinder.unwind(all, [&](std::size_t at, end_of_stack, const std::vector<std::uint64_t>& frames) {
    taken.push_back(at);
    CHECK(frames == std::vector<std::uint64_t>{registers[0]});
  });
  REQUIRE(taken.size() == all.size());
  for (std::size_t at = 0; at != taken.size(); ++at) CHECK(taken[at] == at);
  CHECK(find_child() != child);
}

TEST_CASE("a child that waits for a core longer than the time of a stack is not ended") {
  if (stack_unwinder::needed_registers() == 0) return;
  stack_unwinder unwinder;
  const std::vector<std::uint64_t> registers(count_registers(), reinterpret_cast<std::uint64_t>(&some_code));
  std::vector<std::uint64_t> frames;
  unwind_with(unwinder, getpid(), {registers, {}, 8192}, frames);
  const pid_t child = find_child();
  REQUIRE(child > 0);
  kill(child, SIGSTOP);
  std::thread scheduler([child] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    kill(child, SIGCONT);
  });
  unwind_with(unwinder, getpid(), {registers, {}, 8192}, frames);
  scheduler.join();
  CHECK(find_child() == child);
}

TEST_CASE("if no child can be started, the reason is reported, and stacks have their innermost function") {
  if (stack_unwinder::needed_registers() == 0) return;
  const pid_t tester = fork();
  REQUIRE(tester >= 0);
  if (tester == 0) {
    // The limit of processes does not hold for root.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    int ends[2];
    const rlimit none{0, 0};
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0 || setrlimit(RLIMIT_NPROC, &none) != 0) _exit(3);
    stack_unwinder unwinder;
    const std::vector<std::uint64_t> registers(count_registers(), 0x1234);
    std::vector<std::uint64_t> frames;
    unwind_with(unwinder, getpid(), {registers, {}, 8192}, frames);
    char text[4096] = {};
    const ssize_t bytes = read(ends[0], text, sizeof text - 1);
    const bool has_reason =
        bytes > 0 && std::strstr(text, "cannot fork") != nullptr && std::strstr(text, "EAGAIN") != nullptr;
    _exit(frames.size() == 1 && has_reason ? 0 : 1);
  }
  int how = 0;
  REQUIRE(waitpid(tester, &how, 0) == tester);
  CHECK(how == 0);
}
