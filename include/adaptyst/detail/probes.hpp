// The probes of this ELF object: its control block, a small function per probe, and the notes that locate them.
//
// The assembly is in one COMDAT group: one copy per ELF object. It is inside a function: only objects with markers have
// it. Reasons for the rest, each found by a test:
//   - A probe must not be inline in user code. The kernel may replace the 5-byte nop by a call, which would overwrite
//     the red zone of a leaf function. A separate function has no frame, and its caller keeps nothing below the stack
//     pointer.
//   - The note points at the 1-byte nop, as tools expect. Our collector attaches to one of the two nops after it: Linux
//     7.3 replaces the 10-byte nop, Linux 6.18 to 7.2 the 5-byte nop. The 10-byte nop is first, because newer libbpf
//     looks for it directly after the note's address. Neither nop crosses a page: they end 16 bytes after an aligned
//     beginning.
//   - The operands are the ABI's argument registers, known before compilation.
//   - The notes do not come from <sys/sdt.h>. STAP_PROBE() lets the compiler choose operands and puts the nop into the
//     caller; STAP_PROBE_ASM() is for C only. The header's first include decides about semaphores for the whole
//     translation unit; that choice belongs to the user.
//   - Semaphores are hidden: an interposed one would be in another object, where the kernel does not count.
//   - Semaphores are defined here: with GCC's -flto, a C++ definition used only by assembly is lost.
//   - region_end has a second place without these nops, for forked children: Linux 6.18 turns a nop into a call to a
//     page that a child lacks. `thread`, which fires once, has only the second form.
//   - `naked` functions would suffice for x86-64, but GCC lacks the attribute for aarch64.
#ifndef ADAPTYST_DETAIL_PROBES_HPP
#define ADAPTYST_DETAIL_PROBES_HPP

#include "object.hpp"

extern "C" {

ADAPTYST_DETAIL_HIDDEN void adaptyst_probe_region_begin(const char* name, uint64_t path_id, uint64_t begin_ns,
                                                        uint64_t depth, const adaptyst_path* path);
ADAPTYST_DETAIL_HIDDEN void adaptyst_probe_region_end(const char* name, uint64_t path_id, uint64_t begin_ns,
                                                      uint64_t end_ns, uint64_t self_ns, const adaptyst_path* path);
ADAPTYST_DETAIL_HIDDEN void adaptyst_probe_region_end_of_child(const char* name, uint64_t path_id, uint64_t begin_ns,
                                                               uint64_t end_ns, uint64_t self_ns,
                                                               const adaptyst_path* path);
ADAPTYST_DETAIL_HIDDEN void adaptyst_probe_metric(const char* name, uint64_t path_id, uint64_t value,
                                                  const adaptyst_path* path);
ADAPTYST_DETAIL_HIDDEN void adaptyst_probe_mark(const char* name, uint64_t path_id, uint64_t time_ns,
                                                const adaptyst_path* path);
ADAPTYST_DETAIL_HIDDEN void adaptyst_probe_operation(const char* name, uint64_t path_id, uint64_t submitted_ns,
                                                     uint64_t started_ns, uint64_t ended_ns, const adaptyst_path* path);
ADAPTYST_DETAIL_HIDDEN void adaptyst_probe_thread(const void* recorder, uint64_t layout);
}

// clang-format would split operands and reflow the assembly lines.
// clang-format off
#if defined(__x86_64__)
#define ADAPTYST_DETAIL_PROBE_TAIL \
  ".byte 0x66,0x2e,0x0f,0x1f,0x84,0x00,0x00,0x00,0x00,0x00\n.byte 0x0f,0x1f,0x44,0x00,0x00\nret\n"
#define ADAPTYST_DETAIL_OPERANDS_2 "8@%rdi 8@%rsi"
#define ADAPTYST_DETAIL_OPERANDS_4 ADAPTYST_DETAIL_OPERANDS_2 " 8@%rdx 8@%rcx"
#define ADAPTYST_DETAIL_OPERANDS_5 ADAPTYST_DETAIL_OPERANDS_4 " 8@%r8"
#define ADAPTYST_DETAIL_OPERANDS_6 ADAPTYST_DETAIL_OPERANDS_5 " 8@%r9"
#elif defined(__aarch64__)
#define ADAPTYST_DETAIL_PROBE_TAIL "ret\n"
#define ADAPTYST_DETAIL_OPERANDS_2 "8@x0 8@x1"
#define ADAPTYST_DETAIL_OPERANDS_4 ADAPTYST_DETAIL_OPERANDS_2 " 8@x2 8@x3"
#define ADAPTYST_DETAIL_OPERANDS_5 ADAPTYST_DETAIL_OPERANDS_4 " 8@x4"
#define ADAPTYST_DETAIL_OPERANDS_6 ADAPTYST_DETAIL_OPERANDS_5 " 8@x5"
#else
#error "adaptyst: probes are written for x86-64 and aarch64"
#endif

// The function and its note: owner "stapsdt", type 3; addresses of the nop, of the base as linked, and of the
// semaphore; provider, name and operands (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
#define ADAPTYST_DETAIL_PROBE(function, tail, name, semaphore, operands) \
  ".balign 16\n.hidden adaptyst_probe_" #function "\n.weak adaptyst_probe_" #function "\n" \
  ".type adaptyst_probe_" #function ", %function\nadaptyst_probe_" #function ":\n" \
  "990: nop\n" tail \
  ".size adaptyst_probe_" #function ", . - adaptyst_probe_" #function "\n" \
  ".pushsection .note.stapsdt,\"?\",%note\n" \
  ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
  "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n" \
  ".asciz \"adaptyst\"\n.asciz \"" #name "\"\n.asciz \"" operands "\"\n994: .balign 4\n" \
  ".popsection\n"

#define ADAPTYST_DETAIL_SEMAPHORE(name) ".hidden adaptyst_" #name "_semaphore\n.weak adaptyst_" #name \
  "_semaphore\nadaptyst_" #name "_semaphore:\n"

namespace adaptyst { inline namespace v1 { namespace detail {

// The assembly calls these by mangled name when the object is loaded. Link-time optimisation must keep them.
#ifdef __clang__
#define ADAPTYST_DETAIL_NAMED_BY_ASSEMBLY __attribute__((used, visibility("hidden")))
#else
#define ADAPTYST_DETAIL_NAMED_BY_ASSEMBLY __attribute__((externally_visible, visibility("hidden")))
#endif
template <class>
struct object_loading {
  ADAPTYST_DETAIL_NAMED_BY_ASSEMBLY static void loaded() noexcept;
  ADAPTYST_DETAIL_NAMED_BY_ASSEMBLY static void unloading() noexcept;
};

// Does nothing: its body is in other sections. Call it where every enabled marker passes.
template <class T = void>
ADAPTYST_DETAIL_COLD inline void define_object() noexcept {
  // The compiler does not read the next statement.
  __asm__ volatile("" : : "r"(&object_loading<T>::loaded), "r"(&object_loading<T>::unloading));
  __asm__ volatile(
    ".ifndef adaptyst_object_v5\n"
    ".pushsection .probes,\"awG\",%progbits,adaptyst_object_v5,comdat\n"
    ".balign 8\n"
    ".weak adaptyst_object_v5\n.hidden adaptyst_object_v5\n.type adaptyst_object_v5, %object\nadaptyst_object_v5:\n"
    ADAPTYST_DETAIL_SEMAPHORE(region_begin) ".2byte 0\n"
    ADAPTYST_DETAIL_SEMAPHORE(region_end)   ".2byte 0\n"
    ADAPTYST_DETAIL_SEMAPHORE(metric)
    ADAPTYST_DETAIL_SEMAPHORE(mark)
    ADAPTYST_DETAIL_SEMAPHORE(operation)    ".2byte 0\n"
    ".2byte 0\n"        // recorder
    ".8byte 0\n"        // process
    ".8byte 0\n"        // unrecorded
    ".size adaptyst_object_v5, 24\n"
    ".popsection\n"

    // Other tools find the control block of a running process, stripped or not, by this loaded note.
    ".pushsection .note.adaptyst,\"aG\",%note,adaptyst_object_v5,comdat\n"
    ".balign 4\n.4byte 9, 8, 5\n.asciz \"adaptyst\"\n.balign 4\n"
    ".8byte adaptyst_object_v5 - .\n"
    ".popsection\n"

    // An object loaded under observation must enable itself before its constructors, which may have markers; programs
    // may use priorities from 101. An unloading object may have to be read after its destructors.
    ".pushsection .init_array.00100,\"awG\",%init_array,adaptyst_object_v5,comdat\n"
    ".balign 8\n.8byte _ZN8adaptyst2v16detail14object_loadingIvE6loadedEv\n"
    ".popsection\n"
    ".pushsection .fini_array.00100,\"awG\",%fini_array,adaptyst_object_v5,comdat\n"
    ".balign 8\n.8byte _ZN8adaptyst2v16detail14object_loadingIvE9unloadingEv\n"
    ".popsection\n"

    ".pushsection .text.unlikely.adaptyst,\"axG\",%progbits,adaptyst_object_v5,comdat\n"
    ADAPTYST_DETAIL_PROBE(region_begin, ADAPTYST_DETAIL_PROBE_TAIL, region_begin, "adaptyst_region_begin_semaphore",
                          ADAPTYST_DETAIL_OPERANDS_5)
    ADAPTYST_DETAIL_PROBE(region_end, ADAPTYST_DETAIL_PROBE_TAIL, region_end, "adaptyst_region_end_semaphore",
                          ADAPTYST_DETAIL_OPERANDS_6)
    ADAPTYST_DETAIL_PROBE(region_end_of_child, "ret\n", region_end, "adaptyst_region_end_semaphore",
                          ADAPTYST_DETAIL_OPERANDS_6)
    ADAPTYST_DETAIL_PROBE(metric, ADAPTYST_DETAIL_PROBE_TAIL, metric, "adaptyst_metric_semaphore",
                          ADAPTYST_DETAIL_OPERANDS_4)
    ADAPTYST_DETAIL_PROBE(mark, ADAPTYST_DETAIL_PROBE_TAIL, mark, "adaptyst_mark_semaphore", ADAPTYST_DETAIL_OPERANDS_4)
    ADAPTYST_DETAIL_PROBE(operation, ADAPTYST_DETAIL_PROBE_TAIL, operation, "adaptyst_operation_semaphore",
                          ADAPTYST_DETAIL_OPERANDS_6)
    ADAPTYST_DETAIL_PROBE(thread, "ret\n", thread, "0", ADAPTYST_DETAIL_OPERANDS_2)
    ".popsection\n"

    // Readers of the notes compute prelink's displacement from this, as with <sys/sdt.h>.
    ".ifndef _.stapsdt.base\n"
    ".pushsection .stapsdt.base,\"aG\",%progbits,.stapsdt.base,comdat\n"
    ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n"
    ".popsection\n"
    ".endif\n"
    ".endif\n");
}
// clang-format on

}}}  // namespace adaptyst::v1::detail

#undef ADAPTYST_DETAIL_PROBE
#undef ADAPTYST_DETAIL_PROBE_TAIL
#undef ADAPTYST_DETAIL_SEMAPHORE
#undef ADAPTYST_DETAIL_OPERANDS_2
#undef ADAPTYST_DETAIL_OPERANDS_4
#undef ADAPTYST_DETAIL_OPERANDS_5
#undef ADAPTYST_DETAIL_OPERANDS_6
#undef ADAPTYST_DETAIL_NAMED_BY_ASSEMBLY

#endif
