// expect: error
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  ADAPTYST_REGION("solve");
#ifdef MISUSE
  ADAPTYST_REGION(42);
#endif
}
