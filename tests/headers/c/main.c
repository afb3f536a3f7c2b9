/* Without a collector: the program computes what it should. */
#include "unit.h"

static void nothing(void) {}

int main(void) {
  in_library(nothing);
  return grammar("name", 1.5, 3) && grammar("name", -1, 3) ? 0 : 1;
}
