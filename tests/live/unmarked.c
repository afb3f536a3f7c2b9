/* A program without markers whose calls are known. It says that it is ready, waits for a line, and runs what its argument
 * names. Compiled without optimisation, so that every function begins with a push and is called as written. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int catches(int); /* in unmarked_throw.cpp */

static volatile int sink;
static jmp_buf back;

int leaf(int x) { return x + 1; }
int branch(int x) { return leaf(x) + leaf(x) + leaf(x); }
int root(int x) { return branch(x) + branch(x); }

int recurse(int depth) { return depth == 1 ? leaf(0) : recurse(depth - 1) + 1; }

void jumps(void) { longjmp(back, 1); }
void jumps_over(void) {
  jumps();
  sink = 1;
}
void jumps_within(void) {
  jmp_buf saved;
  memcpy(saved, back, sizeof saved);
  if (setjmp(back) == 0) jumps();
  memcpy(back, saved, sizeof saved);
}
void alternate(void) { jumps(); }

int tail(int);
__asm__(
    ".pushsection .text\n.globl tail\n.type tail, %function\n"
    "tail: push %rbp\n pop %rbp\n jmp leaf\n"
    ".size tail, . - tail\n.popsection\n");

/* One for each kind of instruction to probe; all return x + 1. */
#define ENTRY(name, instructions)                                                                       \
  int name(int);                                                                                        \
  __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" instructions \
          "lea 1(%rdi), %eax\nret\n.size " #name ", . - " #name "\n.popsection\n");
ENTRY(entry_push, "push %rbp\npop %rbp\n")
ENTRY(entry_high_push, "push %r15\npop %r15\n")
ENTRY(entry_nop1, "nop\n")
ENTRY(entry_nop5, ".byte 0x0f,0x1f,0x44,0,0\npush %rbp\npop %rbp\n")
ENTRY(entry_jump, "jmp 1f\n1:\n")
ENTRY(entry_long_jump, ".byte 0xe9,0,0,0,0\n")
ENTRY(entry_call, "call 1f\n1: pop %rax\n")
ENTRY(entry_protected_push, "endbr64\npush %rbp\npop %rbp\n")
ENTRY(entry_protected_nop5, "endbr64\n.byte 0x0f,0x1f,0x44,0,0\npush %rbp\npop %rbp\n")
ENTRY(stepped_entry, "")
ENTRY(stepped_protected_entry, "endbr64\n")

static int all_entries(int x) {
  return entry_push(x) + entry_high_push(x) + entry_nop1(x) + entry_nop5(x) + entry_jump(x) + entry_long_jump(x) +
         entry_call(x) + entry_protected_push(x) + entry_protected_nop5(x) + stepped_entry(x) +
         stepped_protected_entry(x);
}

int forks(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) return 7;
  waitpid(child, &status, 0);
  return status;
}

/* A child, an orphan, a thread of a child, and a program that replaces another: each calls a function of its own. */
static void* leaf_in_thread(void* unused) {
  (void)unused;
  sink = leaf(1);
  return NULL;
}
static int family(void) {
  int open_by_orphan[2];
  char end = 0;
  int status = -1;
  pid_t child;
  if (pipe(open_by_orphan) != 0) return 0;
  child = fork();
  if (child == 0) {
    const pid_t parent = getpid();
    pthread_t thread;
    pthread_create(&thread, NULL, leaf_in_thread, NULL);
    pthread_join(thread, NULL);
    if (fork() != 0) _exit(0);
    while (getppid() == parent) usleep(1000);
    sink = branch(1);
    _exit(0);
  }
  close(open_by_orphan[1]);
  waitpid(child, &status, 0);
  if (read(open_by_orphan[0], &end, 1) != 0) return 0;
  child = vfork();
  if (child == 0) {
    execl("/proc/self/exe", "unmarked", "replaced", (char*)NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void* run_thread(void* unused) {
  (void)unused;
  for (int i = 0; i != 1000; ++i) sink = root(i);
  return NULL;
}

#define ONE(n) \
  int generated_##n(int x) { return x + 1##n; }
#define TEN(do, n) \
  do (n##0) do(n##1) do(n##2) do(n##3) do(n##4) do(n##5) do(n##6) do(n##7) do(n##8) do(n##9)
#define HUNDRED(do, n) \
  TEN(do, n##0)        \
  TEN(do, n##1)        \
  TEN(do, n##2)        \
  TEN(do, n##3)        \
  TEN(do, n##4) TEN(do, n##5) TEN(do, n##6) TEN(do, n##7) TEN(do, n##8) TEN(do, n##9)
#define ALL(do) HUNDRED(do, 0) HUNDRED(do, 1) HUNDRED(do, 2) HUNDRED(do, 3) HUNDRED(do, 4)
#define DECLARE(n) int generated_##n(int);
#define ADDRESS(n) generated_##n,
ALL(DECLARE)
ALL(ONE)
static int (*const generated[])(int) = {ALL(ADDRESS)};

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "replaced") == 0) return root(1) == 0;
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 2;
  if (strcmp(what, "nesting") == 0) {
    for (int i = 0; i != 10; ++i) sink = root(i);
    for (int i = 0; i != 5; ++i) sink = leaf(i);
  } else if (strcmp(what, "recursion") == 0) {
    for (int i = 0; i != 10; ++i) sink = recurse(40);
  } else if (strcmp(what, "deep_recursion") == 0) {
    sink = recurse(200);
    sink = root(1);
  } else if (strcmp(what, "jumps") == 0) {
    for (volatile int i = 0; i != 50; ++i)
      if (setjmp(back) == 0) jumps_over();
    for (volatile int i = 0; i != 50; ++i)
      if (setjmp(back) == 0) alternate();
    sink = root(1);
  } else if (strcmp(what, "jumps_within") == 0) {
    for (volatile int i = 0; i != 50; ++i) jumps_within();
  } else if (strcmp(what, "tail") == 0) {
    for (int i = 0; i != 10; ++i) sink = tail(i);
  } else if (strcmp(what, "exceptions") == 0) {
    for (int i = 0; i != 30; ++i) sink = catches(i);
  } else if (strcmp(what, "entries") == 0) {
    for (int i = 0; i != 20; ++i)
      if (all_entries(i) != 11 * (i + 1)) return 4;
  } else if (strcmp(what, "forks") == 0) {
    const int status = forks();
    if (status == 7) return leaf(8); /* in the child */
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) return 5;
    sink = leaf(1);
  } else if (strcmp(what, "family") == 0) {
    if (!family()) return 6;
  } else if (strcmp(what, "fast_forks") == 0) {
    int status = -1;
    for (int i = 0; i != 20; ++i) sink = entry_nop5(i) + entry_protected_nop5(i);
    if (fork() == 0) _exit(entry_nop5(1) + entry_protected_nop5(1));
    wait(&status);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 4) return 7;
  } else if (strcmp(what, "threads") == 0) {
    pthread_t threads[4];
    for (int i = 0; i != 4; ++i) pthread_create(&threads[i], NULL, run_thread, NULL);
    for (int i = 0; i != 4; ++i) pthread_join(threads[i], NULL);
  } else if (strcmp(what, "generated") == 0) {
    for (int i = 0; i != 500; ++i)
      for (int k = 0; k != i % 7 + 1; ++k) sink = generated[i](k);
  } else if (strcmp(what, "loop") == 0) {
    /* Until its input ends. */
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    while (poll(&input, 1, 0) == 0) {
      pthread_t other;
      pthread_create(&other, NULL, run_thread, NULL);
      pthread_join(other, NULL);
    }
  } else {
    return 3;
  }
  return 0;
}
