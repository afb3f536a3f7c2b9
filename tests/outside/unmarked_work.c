// Without a marker: unmarked_work TIMES [CHILD]. Computes three times as long in one function as in another; with CHILD, all of
// it in a child, as a launcher does.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT_WHOLE __attribute__((noinline))

KEPT_WHOLE double work_long(void) {
  volatile double sum = 0;
  for (long at = 0; at != 3000000; ++at) sum += (double)at;
  return sum;
}

KEPT_WHOLE double work_short(void) {
  volatile double sum = 0;
  for (long at = 0; at != 1000000; ++at) sum += (double)at;
  return sum;
}

int main(int count, char** arguments) {
  const long times = count > 1 ? atol(arguments[1]) : 1;
  double sum = 0;
  if (count > 2) {
    if (fork() == 0) {
      execl("/proc/self/exe", "unmarked_work", arguments[1], NULL);
      _exit(9);
    }
    int status = 0;
    wait(&status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
  }
  for (long at = 0; at != times; ++at) sum += work_long() + work_short();
  return sum == 0;
}
