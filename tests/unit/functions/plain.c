/* Functions in C of every sort that the search tells apart. */
#include <stdio.h>

int visible(int);
int leaf(int);
int imports(const char*);
int chosen(int);
int rare(int);
void entry_of_a_file(void);
void fast_entry(void);
void slow_entry(void);
void jumping_entry(void);
void patched_entry(void);
void bare_entry(void);
void high_register_entry(void);

int datum = 3;

static __attribute__((noinline)) int hidden(int x) {
  __asm__ volatile("" : "+r"(x) : : "memory");
  return x * 7;
}

int visible(int x) { return hidden(x) + hidden(x + 1); }
int also_visible(int) __attribute__((alias("visible")));
int __visible(int) __attribute__((weak, alias("visible")));

int leaf(int x) { return x + datum; }

int imports(const char* text) { return puts(text); }

static int implementation(int x) { return x + 1; }
static int (*resolve(void))(int) { return implementation; }
int chosen(int) __attribute__((ifunc("resolve")));

__attribute__((cold, noreturn, noinline)) void give_up(int);
__attribute__((cold, noreturn, noinline)) void give_up(int x) {
  printf("%d\n", x);
  __builtin_trap();
}

/* GCC moves the unlikely half to rare.cold. */
int rare(int x) {
  int sum = visible(x);
  if (__builtin_expect(sum == 77, 0)) give_up(sum);
  return visible(sum) + 1;
}

/* GCC clones it for the constant. */
static __attribute__((noinline)) int with_constant(int x, int y) {
  __asm__ volatile("" : "+r"(x) : : "memory");
  return visible(x) * y;
}

int (*volatile through)(int) = chosen;

int main(int count, char** arguments) {
  return imports(arguments[0]) + rare(count) + with_constant(count, 5) + with_constant(count + 1, 5) + leaf(count) +
         through(count);
}

/* What stands at an entry, whatever the compiler; the first has no size. */
__asm__(
    ".pushsection .text\n"
    ".macro begin name\n .globl \\name\n .type \\name, %function\n\\name:\n.endm\n"
    "begin bare_entry\n nop\n ret\n"
    "begin fast_entry\n .byte 0x0f,0x1f,0x44,0,0\n push %rbp\n pop %rbp\n ret\n .size fast_entry, . - fast_entry\n"
    "begin slow_entry\n endbr64\n sub $8, %rsp\n add $8, %rsp\n ret\n .size slow_entry, . - slow_entry\n"
    "begin jumping_entry\n jmp 1f\n1: ret\n .size jumping_entry, . - jumping_entry\n"
    "begin patched_entry\n endbr64\n .byte 0x0f,0x1f,0x44,0,0\n ret\n .size patched_entry, . - patched_entry\n"
    "begin high_register_entry\n endbr64\n push %r15\n pop %r15\n ret\n .size high_register_entry, . - "
    "high_register_entry\n"
    ".globl only_a_label\nonly_a_label:\n ret\n"
    ".popsection\n");
