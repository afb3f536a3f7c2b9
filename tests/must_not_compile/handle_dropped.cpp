// expect: nodiscard|unused-result
#include <adaptyst/region.hpp>

void f() {
#ifdef MISUSE
  ADAPTYST_REGION_BEGIN("solve");
#else
  ADAPTYST_REGION_BEGIN("solve").end();
#endif
}
