// expect: a marker with a payload needs #include <adaptyst/payload.hpp>
#include <adaptyst/region.hpp>

struct load {
  double flops;
};

void f() {
  ADAPTYST_REGION("solve");
#ifdef MISUSE
  ADAPTYST_REGION("solve", load{1});
#endif
}
