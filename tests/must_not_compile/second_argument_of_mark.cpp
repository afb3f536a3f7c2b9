// expect: macro
#include <adaptyst/metric.hpp>

void f() {
  ADAPTYST_MARK("restart");
#ifdef MISUSE
  ADAPTYST_MARK("restart", 1);
#endif
}
