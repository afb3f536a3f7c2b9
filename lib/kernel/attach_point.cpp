// Tests whether a probe harms the program: calls a function of this library with a pattern in all callee-saved
// registers and on the stack, and compares afterwards. The same trial measures the cost of a hit.
#include "attach_point.hpp"

#include <unistd.h>

#include <vector>

#include "../support/error.hpp"
#include "../support/process_maps.hpp"
#include "../support/stopwatch.hpp"
#include "uprobe_multi.hpp"

extern "C" {
void adaptyst_trial_site(const char* name, std::uint64_t path_id, std::uint64_t begin_ns, std::uint64_t end_ns,
                         std::uint64_t self_ns, const void* path);
// Calls the trial site with a pattern in every register that a callee must preserve, and on the stack directly above
// the return address; 0: the pattern was unchanged afterwards.
int adaptyst_trial_call(std::uint64_t path_id);
}

#if defined(__x86_64__)
__asm__(R"(
  .pushsection .text.adaptyst_trial,"ax",%progbits
  .balign 16
  .globl adaptyst_trial_site
  .hidden adaptyst_trial_site
  .type adaptyst_trial_site, %function
adaptyst_trial_site:
  nop
  .byte 0x66,0x2e,0x0f,0x1f,0x84,0x00,0x00,0x00,0x00,0x00
  .byte 0x0f,0x1f,0x44,0x00,0x00
  ret
  .size adaptyst_trial_site, . - adaptyst_trial_site

  .globl adaptyst_trial_call
  .hidden adaptyst_trial_call
  .type adaptyst_trial_call, %function
adaptyst_trial_call:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov $0x5151515151515151, %rbx
  mov %rbx, %rbp
  mov %rbx, %r12
  mov %rbx, %r13
  mov %rbx, %r14
  mov %rbx, %r15
  mov $32, %eax
0:
  push %rbx
  dec %eax
  jnz 0b
  sub $8, %rsp
  mov %rbx, (%rsp)
  mov %rdi, %rsi
  xor %edi, %edi
  xor %edx, %edx
  mov $1, %ecx
  xor %r8d, %r8d
  xor %r9d, %r9d
  call adaptyst_trial_site
  xor %eax, %eax
  mov $33, %ecx
1:
  pop %rdx
  xor %rbx, %rdx
  or %rdx, %rax
  dec %ecx
  jnz 1b
  mov $0x5151515151515151, %rdx
  xor %rdx, %rbx
  xor %rdx, %rbp
  xor %rdx, %r12
  xor %rdx, %r13
  xor %rdx, %r14
  xor %rdx, %r15
  or %rbx, %rax
  or %rbp, %rax
  or %r12, %rax
  or %r13, %rax
  or %r14, %rax
  or %r15, %rax
  neg %rax
  sbb %eax, %eax
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
  .size adaptyst_trial_call, . - adaptyst_trial_call
  .popsection
)");
#else
extern "C" __attribute__((noinline)) void adaptyst_trial_site(const char*, std::uint64_t, std::uint64_t, std::uint64_t,
                                                              std::uint64_t, const void*) {
  __asm__ volatile("nop");
}
extern "C" int adaptyst_trial_call(std::uint64_t path_id) {
  volatile std::uint64_t pattern[33];
  for (volatile std::uint64_t& word : pattern) word = path_id;
  adaptyst_trial_site(nullptr, path_id, 0, 1, 0, nullptr);
  for (volatile std::uint64_t& word : pattern)
    if (word != path_id) return 1;
  return 0;
}
#endif

namespace adaptyst::lib {

std::vector<attach_point> order_attach_points([[maybe_unused]] const char* release) {
#if defined(__x86_64__)
  if (replaces_nop10(release)) return {attach_point::nop10, attach_point::nop5, attach_point::breakpoint};
  return {attach_point::nop5, attach_point::nop10, attach_point::breakpoint};
#else
  return {attach_point::breakpoint};
#endif
}

trial_site find_trial_site() {
  const auto address = reinterpret_cast<std::uint64_t>(&adaptyst_trial_site);
  const std::vector<mapping> mapped = find_mapped_pieces(getpid());
  const mapping* const code = find_holder(mapped, address);
  if (code == nullptr)
    throw error("cannot use probes here: the program has moved its code to other memory", 0,
                "engine=inline does not need them");
  return {name_from_here(getpid(), *code), address - code->begin + code->offset};
}

trial try_hits(unsigned hits, std::uint64_t path_id, attach_point point) {
  const auto* const code =
      reinterpret_cast<const volatile unsigned char*>(&adaptyst_trial_site) + static_cast<unsigned>(point);
  trial result{true, false, 0};
  // If another program runs on the same core, a trap takes up to 1.5 times as long, and never less.
  result.hit_ns = quantile_step_ns(0.25, hits, [&] {
    if (adaptyst_trial_call(path_id) != 0) result.state_kept = false;
  });
  // Linux replaces the 5-byte nop by a call, the 10-byte nop by an instruction that skips the red zone and a call.
  constexpr unsigned char breakpoint_byte = 0xcc;
  constexpr unsigned char nop10_byte = 0x66;
  constexpr unsigned char nop5_byte = 0x0f;
  const unsigned char now = *code;
  result.is_optimised =
      point != attach_point::breakpoint && now != breakpoint_byte && now != nop10_byte && now != nop5_byte;
  return result;
}

}  // namespace adaptyst::lib
