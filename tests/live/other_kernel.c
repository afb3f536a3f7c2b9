/* Preloaded: lets the kernel appear as another. ADAPTYST_TEST_RELEASE: the release that uname() returns.
 * ADAPTYST_TEST_NO_ROOM: all memory within reach of a call is taken, and the kernel replaces no nop, because its page
 * for the call has no place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

int uname(struct utsname* names) {
  const char* const release = getenv("ADAPTYST_TEST_RELEASE");
  const long result = syscall(SYS_uname, names);
  if (result == 0 && release != NULL) snprintf(names->release, sizeof names->release, "%s", release);
  return (int)result;
}

static void take(uintptr_t begin, uintptr_t end) {
  if (begin >= end) return;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap((void*)begin, end - begin, PROT_NONE, flags, -1, 0) == MAP_FAILED) perror("other_kernel: mmap");
}

__attribute__((constructor)) static void take_memory(void) {
  enum { max_pieces = 1000 };
  static uintptr_t pieces[max_pieces][2];
  if (getenv("ADAPTYST_TEST_NO_ROOM") == NULL) return;
  FILE* const maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) {
    perror("/proc/self/maps");
    return;
  }
  int count = 0;
  char line[4200];
  while (count != max_pieces && fgets(line, sizeof line, maps) != NULL)
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &pieces[count][0], &pieces[count][1]) == 2) ++count;
  fclose(maps);
  /* The first piece is the program's: its library is linked into it. */
  const uintptr_t reach = (uintptr_t)3 << 30;
  uintptr_t begin = pieces[0][0] - reach;
  const uintptr_t end = pieces[0][1] + reach;
  for (int at = 0; at != count && pieces[at][0] < end; ++at) {
    take(begin, pieces[at][0]);
    begin = pieces[at][1];
  }
  take(begin, end);
}
