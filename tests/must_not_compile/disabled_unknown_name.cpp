// expect: unknown
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  const char* const known = "solve";
  ADAPTYST_REGION(known);
#ifdef MISUSE
  ADAPTYST_REGION(unknown);
#endif
}
