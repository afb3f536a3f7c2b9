// expect: deleted|is private
#include <adaptyst/region.hpp>

#include <utility>

void f() {
  adaptyst::region_handle one = ADAPTYST_REGION_BEGIN("solve");
#ifdef MISUSE
  adaptyst::region_handle two = one;
#else
  adaptyst::region_handle two = std::move(one);
#endif
  two.end();
}
