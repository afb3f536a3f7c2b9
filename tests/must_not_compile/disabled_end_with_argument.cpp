// expect: no matching function|too many arguments|no matching member
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  adaptyst::region_handle one = ADAPTYST_REGION_BEGIN("solve");
#ifdef MISUSE
  one.end(1);
#else
  one.end();
#endif
}
