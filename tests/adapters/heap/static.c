/* Linked statically: no library can be loaded into it. */
#include <stdlib.h>
#include <string.h>

int main(int count, char** arguments) {
  char* const kept = malloc(1000);
  if (kept == NULL) return 1;
  memset(kept, count, 1000);
  const int failed = kept[count] != (char)count || arguments[0] == NULL;
  free(kept);
  return failed;
}
