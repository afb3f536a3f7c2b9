/* A small library with all that elf_file looks for: notes as markers leave them, versions, an indirect function, a clone,
 * a name of C++. The markers themselves would make it ten times as large, and the search as much slower. */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__extension__ unsigned short adaptyst_region_begin_semaphore __attribute__((section(".probes")));
unsigned short other_probe_semaphore __attribute__((section(".probes")));

int old_answer(void) { return 41; }
int new_answer(int at) {
  STAP_PROBE2(adaptyst, region_begin, at, &at);
  __asm__("nopl 0(%rax,%rax)");
  STAP_PROBE1(other, probe, at);
  return 42;
}
static int (*resolve(void))(void) { return old_answer; }
int __chosen_fast(void) { return 1; }
int chosen(void) __attribute__((ifunc("resolve")));
int cloned(void) __asm__("part.part.0");
int cloned(void) { return 2; }
int cxx(void) __asm__("_ZN4flow3sumEii");
int cxx(void) { return 3; }
int imported(void);
int caller(void) { return imported() + chosen(); }

__asm__(".symver old_answer, answer@TEST_1");
__asm__(".symver new_answer, answer@@TEST_2");
__asm__(
    ".pushsection .note.adaptyst, \"a\", \"note\"\n"
    ".balign 4\n"
    ".4byte 9, 8, 1\n"
    ".asciz \"adaptyst\"\n"
    ".balign 4\n"
    "1: .8byte adaptyst_region_begin_semaphore - 1b\n"
    ".popsection\n");
