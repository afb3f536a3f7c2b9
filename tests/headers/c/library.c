/* A shared library with markers of its own; or another unit of the program. */
#include <adaptyst/adaptyst.h>

#include "unit.h"

void in_library(void (*inside)(void)) {
  ADAPTYST_BEGIN("pair of the library");
  {
    ADAPTYST_REGION("scope of the library");
    inside();
  }
  ADAPTYST_END();
}
