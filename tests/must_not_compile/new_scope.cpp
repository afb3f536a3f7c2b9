// expect: deleted function|explicitly marked deleted|explicitly deleted|is deleted|deleted definition
#include <adaptyst/region.hpp>

void f() {
#ifdef MISUSE
  new adaptyst::detail::scope<>(0);
#endif
}
