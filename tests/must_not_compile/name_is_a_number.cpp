// expect: to_text
#include <adaptyst/region.hpp>

void f() {
  ADAPTYST_REGION("solve");
#ifdef MISUSE
  ADAPTYST_REGION(42);
#endif
}
