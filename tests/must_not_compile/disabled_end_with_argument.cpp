// expect: no matching function|too many arguments|no matching member
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  adaptyst::region_handle handle = ADAPTYST_REGION_BEGIN("solve");
#ifdef MISUSE
  handle.end(1);
#else
  handle.end();
#endif
}
