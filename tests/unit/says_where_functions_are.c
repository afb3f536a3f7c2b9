/* Says where two of its functions are, one of them exported, and sleeps. */
#include <stdio.h>
#include <unistd.h>

/* A label that is exported and has no size: what follows is not called so. */
__asm__(".text\n.globl label_before\nlabel_before:\n nop\n");

__attribute__((noinline, visibility("default"))) int open_function(int x) { return x * 3; }
static __attribute__((noinline)) int hidden_function(int x) { return open_function(x) + 1; }

int main(void) {
  int (*volatile open)(int) = open_function;
  int (*volatile hidden)(int) = hidden_function;
  printf("%lx %lx\n", (unsigned long)open, (unsigned long)hidden);
  fflush(stdout);
  sleep(20);
  return open(1) + hidden(2) > 100;
}
