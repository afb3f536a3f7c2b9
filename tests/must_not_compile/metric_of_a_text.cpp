// expect: static_cast|cast from
#include <adaptyst/metric.hpp>

void f() {
  ADAPTYST_METRIC("residual", 0.5);
#ifdef MISUSE
  ADAPTYST_METRIC("residual", "half");
#endif
}
