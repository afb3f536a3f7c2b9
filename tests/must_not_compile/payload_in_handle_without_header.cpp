// expect: a marker with a payload needs #include <adaptyst/payload.hpp>
#include <adaptyst/region.hpp>

struct load {
  double flops;
};

adaptyst::region_handle f() {
#ifdef MISUSE
  return ADAPTYST_REGION_BEGIN("solve", load{1});
#else
  return ADAPTYST_REGION_BEGIN("solve");
#endif
}
