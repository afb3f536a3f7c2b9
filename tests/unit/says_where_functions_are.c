/* Says where three of its functions are, one of them exported, and sleeps. */
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline, visibility("default"))) int open_function(int x) { return x * 3; }

/* Behind a label that is exported and has no size: the function is not called so. */
__asm__(
    ".text\n"
    ".globl label_before\n"
    "label_before:\n"
    "  nop\n"
    ".type hidden_function, @function\n"
    "hidden_function:\n"
    "  nop\n"
    "  nop\n"
    "  ret\n"
    ".size hidden_function, . - hidden_function\n");
extern __attribute__((visibility("hidden"))) void hidden_function(void);

/* Only unwinding tables know it when the file is stripped. */
__attribute__((noinline)) static int inner_function(int x) { return x * 5 + open_function(x); }

int main(void) {
  int (*volatile inner)(int) = inner_function;
  int (*volatile open)(int) = open_function;
  void (*volatile hidden)(void) = hidden_function;
  printf("%lx %lx %lx\n", (unsigned long)open, (unsigned long)hidden, (unsigned long)inner);
  fflush(stdout);
  sleep(20);
  return open(1) > 100;
}
