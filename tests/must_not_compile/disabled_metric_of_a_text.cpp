// expect: static_cast|cast from
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  ADAPTYST_METRIC("residual", 0.5);
#ifdef MISUSE
  ADAPTYST_METRIC("residual", "half");
#endif
}
